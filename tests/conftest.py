"""Set-up for every tier of tests."""

from __future__ import annotations

from hypothesis import settings

# A noisy machine must not fail a property; hypothesis' own health checks stay on.
settings.register_profile("pgassay", deadline=None, print_blob=True)
settings.load_profile("pgassay")
