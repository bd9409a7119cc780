"""Incidents of eight kinds, provoked on a real server under a steady load, and what finds them."""
