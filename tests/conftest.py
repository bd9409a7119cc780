"""Set-up for every tier of tests."""

from __future__ import annotations

import signal

from hypothesis import settings

# A noisy machine must not fail a property; hypothesis' own health checks stay on.
settings.register_profile("pgassay", deadline=None, print_blob=True)
settings.load_profile("pgassay")

# Started in the background, as by nohup, tests would hand an ignored Ctrl-C down to every program.
signal.signal(signal.SIGINT, signal.default_int_handler)
