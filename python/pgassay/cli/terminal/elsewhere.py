"""Options that users expect of a command that does not have them, and arguments that are missing.

Enters: a command's arguments; by option what to use instead. Leaves: a SpecError that says it.
Never: looks at an option's value.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from typer.core import TyperCommand
from typer.exceptions import TyperException

from pgassay.refusals.refusal import Refusal

_LACKING = {"spec": "no-file-named", "run": "no-run-named"}
"""The refusal of a command line that lacks this argument."""


class Redirecting(TyperCommand):
    """A command that says what to use in place of options that it does not have, and how to come by
    an argument that is missing."""

    code = "option-elsewhere"

    def elsewhere(self) -> Mapping[str, str]:
        """Returns what to use instead, by the option that the command does not have."""
        return {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            lacks = getattr(getattr(error, "param", None), "name", None)
            if hasattr(error, "param_type") and lacks in _LACKING:  # not a value that does not fit
                raise Refusal(_LACKING[lacks]) from None
            name = str(getattr(error, "option_name", None))
            instead = self.elsewhere().get(name)
            if instead is None:
                raise
            raise Refusal(self.code, name=name, instead=instead) from None


@cache
def keys_by_option() -> dict[str, str]:
    """Returns what the experiment file says, by the option that one may expect of `run`."""
    text = (files(__package__) / "options_of_experiments.toml").read_text("utf-8")
    table: dict[str, list[str]] = tomllib.loads(text)
    return {option: instead for instead, options in table.items() for option in options}


class OfExperiment(Redirecting):
    """A command that takes an experiment file, which says what other programs take options for."""

    def elsewhere(self) -> Mapping[str, str]:
        return keys_by_option()
