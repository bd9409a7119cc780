"""Tables for programs and spreadsheets: named, with typed columns, unrounded values.

What each table and column means is data (`run_tables.toml`, `recorded_tables.toml`), so every
format and the table `columns` say the same. A table has its columns also where it has no rows.
"""
