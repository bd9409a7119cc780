"""A command that knows pgbench's options it does not have.

Enters: a command line. Leaves: typer's own parse, or a SpecError that says what to use instead.
Never: accepts an option only to ignore it.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from typer.core import TyperCommand
from typer.exceptions import TyperException

from pgassay.errors import SpecError


@cache
def elsewhere() -> dict[str, str]:
    """Option → what to use instead."""
    text = (files(__package__) / "pgbench_options.toml").read_text("utf-8")
    return {name: str(advice) for name, advice in tomllib.loads(text).items()}


class PgbenchCommand(TyperCommand):
    """Words an unknown option by what pgbench means by it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            name = getattr(error, "option_name", None)
            if name in elsewhere():
                raise SpecError(
                    f"{name} is pgbench's and not `load`'s: {elsewhere()[name]}"
                ) from None
            raise
