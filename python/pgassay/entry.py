"""The console script: a Ctrl-C while modules load is an interruption too, not a traceback.

Enters: nothing. Leaves: the exit status of the command line, a HOME where there is none.
Never: imports anything of the package before it can be interrupted cleanly.
"""

from __future__ import annotations

import os
import pwd
import sys
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Load the command line, then run it."""
    _have_a_home()
    try:
        from pgassay.cli.main import main as run
    except KeyboardInterrupt:
        print("pgassay: stopped", file=sys.stderr)
        os._exit(INTERRUPTED)  # half-loaded modules are not worth unloading
    run()


def _have_a_home() -> None:
    """A number without a name has none but HOME; container engines say / then, and so do we: what
    cannot be written there is told with its folder."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        os.environ.setdefault("HOME", "/")
