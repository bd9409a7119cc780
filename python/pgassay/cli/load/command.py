"""`pgassay load`: one load on one server, with pgbench's options.

Enters: scripts, clients, a duration, libpq's connection options. Leaves: a summary or the
`pgassay.load/1` object. Never: changes a setting or makes a table.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.cli.load.options import OUR_PANELS, LoadOptions
from pgassay.cli.terminal.abbreviations import Abbreviating
from pgassay.cli.terminal.elsewhere import Redirecting


@cache
def replacements() -> dict[str, str]:
    """Returns what to use instead, by the option of pgbench that `load` does not have."""
    return tomllib.loads((files(__package__) / "pgbench_options.toml").read_text("utf-8"))


class PgbenchCommand(Redirecting, Abbreviating):
    """A command that says what to use in place of pgbench's options that `load` does not have."""

    our_panels = OUR_PANELS
    theirs = replacements().keys()
    code = "option-of-pgbench"

    def elsewhere(self) -> Mapping[str, str]:
        return replacements()


COMMAND_CLASS = PgbenchCommand


def load(**given: Any) -> None:
    """Put one load on a server, with pgbench's options and scripts."""
    from pgassay.cli.load.execution import carry_out

    carry_out(LoadOptions(**given))


# typer makes the command line from the signature of `load`.
load.__signature__ = inspect.signature(LoadOptions, eval_str=True)  # type: ignore[attr-defined]
