"""Worlds of courses within trials: curves, checkpoints, steadiness and warm-up."""
