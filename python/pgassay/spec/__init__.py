"""Experiment file → validated, frozen Spec."""
