"""Libraries that the start of a command must not wait for.

Enters: nothing. Leaves: their names. Never: imports one.
"""

HEAVY = {"jinja2", "numpy", "psycopg", "pyarrow", "ruptures", "scipy"}
"""Each takes 50 ms to 1 s of a processor to import."""
