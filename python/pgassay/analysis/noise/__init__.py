"""The noise of a host: A/A calibration, power, what earlier runs let expect.

What a design can find is simulated by the stopping rule itself and not computed by a formula: so it
holds for every way of stopping, and cannot disagree with the rule.
"""
