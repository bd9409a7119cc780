"""Writes a drawn workload as a folder that `pgassay run` takes.

Enters: a `Drawing`. Leaves: scripts, parameters, workload.toml, experiment.toml, drawing.json and
FIDELITY.md, for their owner alone. Never: reads a server, or shows a value of a parameter.
"""
