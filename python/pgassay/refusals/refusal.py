"""One reason why an experiment cannot be run, and the check of a whole stage.

Enters: codes of the catalogue with their values; the checks of a stage. Leaves: a `Refusal`, which
is an error of one line with file, key and fix. Never: reads a file of the user's.

The catalogue is the TOML files of this folder. The code `too-few-levels` is a line of one of them:
its `text` and its `fix` with places for the values, the fix `otherwise` where that one is empty for
some values, and its `key` where that does not depend on the experiment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, ParamSpec, TypeVar

from pgassay.errors import (
    ConnectionRefused,
    GateFailed,
    GateUndecided,
    PgassayError,
    RestoreFailed,
    RunDirectoryError,
    SettingRejected,
    SetupError,
    SpecError,
    TargetError,
    TrialError,
)

Given = ParamSpec("Given")
Error = TypeVar("Error")
Made = TypeVar("Made")


class Refusal(SpecError):
    """A reason of the experiment file with its code. A check yields it; a reader of a single value
    raises it."""

    def __init__(self, code: str, key: str | None = None, /, **values: Any) -> None:
        self.code, self.values = code, values
        self.text, self.fix, own = _entry(code, values)
        super().__init__(line(self.text, self.fix), key=key or own)

    def at(self, key: str | None) -> Refusal:
        """Returns the same refusal of another key, or of none."""
        return Refusal(self.code, key, **self.values)


class Refused(PgassayError):
    """An error with its code, and the key of the experiment file that it is about, if any."""

    def __init__(self, code: str, key: str | None = None, /, **values: Any) -> None:
        self.code, self.values = code, values
        self.text, self.fix, own = _entry(code, values)
        self.key = key or own
        super().__init__(": ".join(filter(None, (self.key, line(self.text, self.fix)))))


class TargetRefused(Refused, TargetError):
    """The refusal of a server, or of what it was asked for, with its code; `sqlstate` is the
    server's own, where it gave one."""

    def __init__(
        self, code: str, key: str | None = None, /, *, sqlstate: Any = None, **values: Any
    ) -> None:
        super().__init__(code, key, **values)
        self.sqlstate = sqlstate


def opened(made: Made | None) -> Made:
    """Returns what opening a target has made; a target that is not open is refused."""
    if made is None:
        raise TargetRefused("not-open")
    return made


class NotConnected(TargetRefused, ConnectionRefused):
    """The refusal of a connection, with its code."""


class SetupRefused(Refused, SetupError):
    """The refusal of a command or of this machine, which lacks something, with its code."""


class TrialRefused(Refused, TrialError):
    """What a trial could not have, or could not read, with its code."""


class RestoreRefused(TargetRefused, RestoreFailed):
    """What was not put back, with its code."""


class GateRefused(Refused, GateFailed):
    """A change that lies beyond what a gate allows, with its code."""


class GateOpen(Refused, GateUndecided):
    """A gate that is undecided and must not be, with its code."""


class DirectoryRefused(Refused, RunDirectoryError):
    """The refusal of a run directory, or of a file of it, with its code."""

    def __init__(self, code: str, place: object = None, /, **values: Any) -> None:
        super().__init__(code, None if place is None else str(place), **values)


class SettingRefused(SettingRejected):
    """The refusal of a setting or knob, with its code; where a `value` is at fault, the line names
    it, too."""

    def __init__(
        self, setting: str, code: str, /, *, sqlstate: str | None = None, **values: Any
    ) -> None:
        self.code, self.values = code, values
        self.text, self.fix, _ = _entry(code, values)
        self.named = f"{setting} = {values['value']}" if "value" in values else setting
        said = f"{self.named}: {line(self.text, self.fix)}"
        super().__init__(setting, said, sqlstate=sqlstate)


class UnfitValue(ValueError):
    """The error of a reader of single values, which does not know a value's key."""

    def __init__(self, code: str, **values: Any) -> None:
        self.refusal = Refusal(code, **values)
        super().__init__(self.refusal.problem)


@cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """Returns `text`, `fix`, `otherwise` and `key` of each refusal, by its code."""
    found = sorted(one.name for one in files(__package__).iterdir() if one.name.endswith(".toml"))
    texts = [(files(__package__) / name).read_text("utf-8") for name in found]
    return {code: entry for text in texts for code, entry in tomllib.loads(text).items()}


class _Several(tuple[object, ...]):
    """Several problems or commands as the value of a refusal: one line, each once."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return "; ".join(map(str, distinct(self)))


def _entry(code: str, values: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """Returns the text of a refusal, its fix, which may be empty, and its key, if it has one."""
    entry = catalogue()[code]
    shown = {
        name: _Several(value) if isinstance(value, tuple) else value
        for name, value in values.items()
    }
    fix = entry.get("fix", "").format(**shown) or entry.get("otherwise", "").format(**shown)
    return entry["text"].format(**shown), fix, entry.get("key")


def line(text: str, fix: str) -> str:
    """Returns what is wrong and what to write instead, if that is known, in one line."""
    return f"{text}; {fix}" if fix else text


def found_by(
    checks: Iterable[Callable[Given, object]],
    *given: Given.args,
    **named: Given.kwargs,
) -> list[PgassayError]:
    """Returns everything that these checks refuse, in their order; a check may raise as well as
    yield. What else it returns is left alone."""
    found: list[PgassayError] = []
    for check in checks:
        try:
            made = check(*given, **named)
            found.extend(made if isinstance(made, Iterator | list) else ())
        except RestoreFailed:
            raise
        except (SpecError, SetupError, TargetError) as error:
            found.append(error)
    return distinct(found)


def distinct(found: Iterable[Error]) -> list[Error]:
    """Returns those that differ in what they refuse."""
    return list({what(error): error for error in found}.values())


def what(error: object) -> Hashable:
    """Returns the code, key, setting and values of a refusal; of anything else itself."""
    code, values = getattr(error, "code", None), getattr(error, "values", None)
    of = getattr(error, "key", None), getattr(error, "setting", None)
    return error if code is None else (code, *of, repr(values))


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
