"""Draws a workload from a running server's statistics or from its log.

Enters: a server that is only read, or files of its log. Leaves: a workload folder with an
experiment file and FIDELITY.md. Never: executes a statement of the workload on the source, or shows
its values.
"""
