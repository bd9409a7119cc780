"""Which level is best for which purpose, where criteria disagree?

Every pair of levels of a factor is compared on every criterion, over blocks. A level is beaten by
another only where it is clearly worse in one criterion and clearly better in none; and for certain
only where the intervals also exclude that it is better by more than the margin in any (Pareto
dominance with uncertainty).
"""
