"""Incidents of an observation, as codes with values."""
