"""What a trace shows: durations by point and key, over time, and around checkpoints.

Figures describe one trace. Nothing is tested here but the cost of tracing itself, whose units are
pairs of windows.
"""
