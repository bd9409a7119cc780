"""The console script `pgassay`.

Enters: nothing. Leaves: the exit status of the command line.
Never: shows a traceback for a Ctrl-C that comes while modules are being imported, or a library's
warning, which says nothing to a user (`python -W` shows them).
"""

from __future__ import annotations

import gc
import os
import pwd
import sys
import warnings
from typing import NoReturn

INTERRUPTED = 130
_ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000
"""Imports make objects that stay: with Python's usual 700 `pgassay plan` takes a twelfth longer."""


def main() -> NoReturn:
    """Imports the command line, then runs it."""
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)
    _ensure_home()
    _ensure_streams()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    try:
        from pgassay.cli.main import main as run
    except KeyboardInterrupt:
        print("pgassay: stopped", file=sys.stderr)
        os._exit(INTERRUPTED)  # half-imported modules need no clean-up
    run()


def _ensure_streams() -> None:
    """Replaces stdout or stderr where it is closed by one that goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115 - until the end


def _ensure_home() -> None:
    """Set HOME to / for a user ID without an account, as container engines do: libraries that look
    up the home directory fail otherwise."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        os.environ.setdefault("HOME", "/")
