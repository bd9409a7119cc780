"""`pgassay load`: one load on one server, with pgbench's options.

Enters: scripts, clients, a duration, libpq's connection options. Leaves: a summary or the
`pgassay.load/1` object. Never: changes a setting or makes a table.
"""

from __future__ import annotations

import inspect
from typing import Any

from pgassay.cli.load.options import LoadOptions
from pgassay.cli.load.pgbench_command import PgbenchCommand

COMMAND_CLASS = PgbenchCommand


def load(**given: Any) -> None:
    """Put one load on a server, with pgbench's options and scripts."""
    from pgassay.cli.load.carrying_out import carry_out

    carry_out(LoadOptions(**given))


# typer makes the command line from the signature of `load`.
load.__signature__ = inspect.signature(LoadOptions, eval_str=True)  # type: ignore[attr-defined]
