"""The engine beside pgbench: `python -m bench.engine`."""
