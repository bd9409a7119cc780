"""A workload drawn from the statistics of a running server, which is only read.

`drawing.py` is the way: two readings of pg_stat_statements, what each parameter meets, where its
values come from, scenarios with their rows of parameters.
"""
