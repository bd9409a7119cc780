"""Several factors: which combinations are run, and which effects are aliased.

Fractions are computed here (tested against a textbook's table), and only regular ones, whose
aliases can be named. There are none for factors with more than two levels.
"""
