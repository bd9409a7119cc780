"""The `[factors]` tables: kinds of factor, their levels, and the files that levels name."""
