"""The console script: a Ctrl-C while modules load is an interruption too, not a traceback.

Enters: nothing. Leaves: the exit status of the command line.
Never: imports anything of the package before it can be interrupted cleanly.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Load the command line, then run it."""
    try:
        from pgassay.cli.main import main as run
    except KeyboardInterrupt:
        print("pgassay: stopped", file=sys.stderr)
        os._exit(INTERRUPTED)  # half-loaded modules are not worth unloading
    run()
