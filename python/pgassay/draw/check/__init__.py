"""Compares a run of a drawn workload with the source that it was drawn from.

Enters: a run directory, the workload's drawing.json. Leaves: figures by statement and for the
whole, and what differs by more than the limits. Never: reads a value of a parameter, or executes a
statement.
"""
