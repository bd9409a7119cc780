"""Guards: what disturbed a trial, and whether it counts.

Guards never look at the result: a trial is invalid by what changed around it, never by its figures,
because running it again would then choose among answers. Its second run has a number that follows
from the first's, beyond all planned ones, so that numbers in plan.json stay what they were.
"""
