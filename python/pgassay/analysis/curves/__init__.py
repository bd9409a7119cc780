"""What a run shows beyond its verdicts: curves, courses, checkpoints.

These are added after the verdicts: they cost seconds, verdicts are asked for after every block, and
nothing here may change one.
"""
