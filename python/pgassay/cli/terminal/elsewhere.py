"""Options that users expect of a command that does not have them, arguments that are missing, and
values that do not fit.

Enters: a command's arguments; by option what to use instead. Leaves: a SpecError that says it.
Never: reads what a value that fits means.
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
from pgassay.spec.reading.suggest import did_you_mean

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
            if (unfit := _unfit(error)) is not None:
                raise unfit from None
            lacks = getattr(getattr(error, "param", None), "name", None)
            if hasattr(error, "param_type") and lacks in _LACKING:  # not a value that does not fit
                raise Refusal(_LACKING[lacks]) from None
            name = str(getattr(error, "option_name", None))
            instead = self.elsewhere().get(name)
            if instead is None:
                raise
            raise Refusal(self.code, name=name, instead=instead) from None


def _unfit(error: TyperException) -> Refusal | None:
    """Returns the refusal of a value that is not of its option's type, below or above its limits,
    or none of its words."""
    from pydantic import ValidationError  # not loaded for the list of commands

    if not isinstance(cause := error.__cause__, ValidationError):
        return None
    detail, param = cause.errors(include_url=False)[0], vars(error)["param"]
    key, value = param.opts[0], str(detail["input"])
    match detail["type"], detail.get("ctx", {}):
        case (("int_parsing" | "int_parsing_size"), _):
            return Refusal("answer-not-whole", key, text=value)
        case "float_parsing", _:
            return Refusal("not-a-number", key, value=value)
        case _, {"ge": limit}:
            return Refusal("number-too-small", key, value=value, limit=limit)
        case _, {"le": limit}:
            return Refusal("number-too-large", key, value=value, limit=limit)
        case "value_error", _ if choices := param.type_descriptor.choices:
            known = [str(getattr(one, "value", one)) for one in choices]
            near = did_you_mean(value, known, list_up_to=0)
            return Refusal("not-a-choice", key, value=value, near=near, known=", ".join(known))
    return None


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
