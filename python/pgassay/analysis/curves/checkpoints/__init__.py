"""Checkpoints: what each costs, how a trial goes around them, and what causes the dip."""
