"""`pgassay load`: one load on one server, with pgbench's options.

Enters: scripts, clients, a duration, libpq's connection options. Leaves: a summary or the
`pgassay.load/1` object. Never: changes a setting or makes a table.
"""

from __future__ import annotations

import inspect
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from typer.exceptions import TyperException

from pgassay.cli.load.options import OUR_PANELS, LoadOptions
from pgassay.cli.terminal.abbreviations import Abbreviating
from pgassay.refusals.refusal import Refusal


@cache
def replacements() -> dict[str, str]:
    """Returns what to use instead, by the option of pgbench that `load` does not have."""
    return tomllib.loads((files(__package__) / "pgbench_options.toml").read_text("utf-8"))


class PgbenchCommand(Abbreviating):
    """A command that says what to use in place of pgbench's options that `load` does not have."""

    our_panels = OUR_PANELS
    theirs = replacements().keys()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            name = getattr(error, "option_name", None)
            if name not in replacements():
                raise
            raise Refusal("option-of-pgbench", name=name, instead=replacements()[name]) from None


COMMAND_CLASS = PgbenchCommand


def load(**given: Any) -> None:
    """Put one load on a server, with pgbench's options and scripts."""
    from pgassay.cli.load.execution import carry_out

    carry_out(LoadOptions(**given))


# typer makes the command line from the signature of `load`.
load.__signature__ = inspect.signature(LoadOptions, eval_str=True)  # type: ignore[attr-defined]
