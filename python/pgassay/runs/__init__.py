"""Stored runs → tables: for `pgassay sql`, and for notebooks (`pgassay.open_run`).

Decisions of this room:

- A table is defined once (`catalogue.py`): its columns, and how one run's files give its rows.
  `sql` and the Python objects both take it from there.
- Tables of samples are datasets of pyarrow over the Parquet files as stored, with the columns that
  this version knows: a file is opened only when a query reads it, and a condition on `run` or
  `trial` leaves the others closed. All other tables are made of JSON files.
- DuckDB never opens a file: it gets tables and datasets from Python and is locked before the query,
  so that SQL reads nothing else and writes nothing, and a path never becomes part of SQL.
"""
