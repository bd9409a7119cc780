"""The console script `pgassay`.

Enters: nothing. Leaves: the exit status of the command line.
Never: shows a traceback for a Ctrl-C that comes while modules are being imported.
"""

from __future__ import annotations

import os
import pwd
import sys
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Import the command line, then run it."""
    _ensure_home()
    try:
        from pgassay.cli.main import main as run
    except KeyboardInterrupt:
        print("pgassay: stopped", file=sys.stderr)
        os._exit(INTERRUPTED)  # half-imported modules need no clean-up
    run()


def _ensure_home() -> None:
    """Set HOME to / for a user ID without an account, as container engines do: libraries that look
    up the home directory fail otherwise."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        os.environ.setdefault("HOME", "/")
