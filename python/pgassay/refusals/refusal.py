"""One reason why an experiment cannot be run, and the check of a whole stage.

Enters: codes of refusals.toml with their values; the checks of a stage. Leaves: a `Refusal`, which
is an error of one line with file, key and fix. Never: reads a file of the user's.

The code `too-few-levels` is the entry `[too-few-levels]` of refusals.toml: its `text` and its
`fix` with places for the values, and its `key` where that does not depend on the experiment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, ParamSpec

from pgassay.errors import PgassayError, RestoreFailed, SetupError, SpecError, TargetError

Given = ParamSpec("Given")


class Refusal(SpecError):
    """A reason with its code. A check yields it; a reader of a single value raises it."""

    def __init__(self, code: str, key: str | None = None, /, **values: Any) -> None:
        self.code, self.values = code, values
        self.text, self.fix = _worded(code, values)
        super().__init__(_line(self.text, self.fix), key=key or catalogue()[code].get("key"))

    def at(self, key: str) -> Refusal:
        """Returns the same refusal of another key."""
        return Refusal(self.code, key, **self.values)


class TargetRefused(TargetError):
    """The refusal of a server as it was found, with its code; no key of the experiment file is at
    fault."""

    def __init__(self, code: str, **values: Any) -> None:
        self.code, self.values = code, values
        self.text, self.fix = _worded(code, values)
        super().__init__(_line(self.text, self.fix))


class UnfitValue(ValueError):
    """The error of a reader of single values, which does not know a value's key."""

    def __init__(self, code: str, **values: Any) -> None:
        self.refusal = Refusal(code, **values)
        super().__init__(self.refusal.problem)


@cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """Returns `text`, `fix` and `key` of each refusal, by its code."""
    return tomllib.loads((files(__package__) / "refusals.toml").read_text("utf-8"))


def _worded(code: str, values: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the text of a refusal and its fix, which may be empty."""
    entry = catalogue()[code]
    return entry["text"].format(**values), entry.get("fix", "").format(**values)


def _line(text: str, fix: str) -> str:
    return f"{text}; {fix}" if fix else text


def found_by(
    checks: Iterable[Callable[Given, Iterable[PgassayError] | None]],
    *given: Given.args,
    **named: Given.kwargs,
) -> list[PgassayError]:
    """Returns everything that these checks refuse, in their order; a check may raise as well as
    yield."""
    found: list[PgassayError] = []
    for check in checks:
        try:
            found.extend(check(*given, **named) or ())
        except RestoreFailed:
            raise
        except (SpecError, SetupError, TargetError) as error:
            found.append(error)
    return list({str(error): error for error in found}.values())


def refuse(found: Iterable[PgassayError], file: str | None = None) -> None:
    """Raises the first of what was found in an experiment file, with a line for each other one."""
    every = list(found)
    for one in every:
        if file is not None and isinstance(one, SpecError):
            one.in_file(file)
    if every:
        first, *others = every
        lines = [first.excerpt, *(f"pgassay: {other}" for other in others)]
        first.excerpt = "\n".join(filter(None, lines))
        raise first
