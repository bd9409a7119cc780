"""Every error a user can meet, and the exit code it ends with.

Enters: nothing. Leaves: typed exceptions whose message is one line that names the fix.
Never: a traceback for the user; `cli.main` prints the message and exits with `exit_code`.

    PgassayError                    1
    ├── SpecError                   1   the experiment file, with file and key
    ├── SetupError                  1   this machine lacks something
    ├── RunDirectoryError           1   a run directory that cannot be read or made
    ├── TargetError                 1   the server under test
    │   ├── ConnectionRefused       1
    │   ├── SettingRejected         1
    │   └── RestoreFailed           5
    ├── TrialError                  2   a trial failed; finished ones are kept
    │   └── LimitPassed             2   a limit of [guard]; the run ended in order
    ├── GateFailed                  3   a change lies beyond what a gate allows
    └── GateUndecided               4   the same is undecided: it is worse, or must be decided
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any, Self

_LONG_WORD = re.compile(r"\S{400,}")
"""Of an experiment file: as much of it as a line can show."""


class ExitCode(IntEnum):
    """What a command's exit status means; tools/manual/texts.toml says it in words."""

    DONE = 0
    USAGE = 1
    TRIALS = 2
    GATE = 3
    UNDECIDED = 4
    RESTORE = 5
    INTERRUPTED = 130


class PgassayError(Exception):
    """The root of every error this project raises on purpose."""

    exit_code: ExitCode = ExitCode.USAGE
    excerpt: str = ""
    """Lines to show below the message, such as the wrong line with a caret; may be empty."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors pass between processes as they are, whatever their `__init__` takes."""
        return _as_it_was, (type(self), self.args, self.__dict__)


def _as_it_was(
    kind: type[PgassayError], args: tuple[Any, ...], state: dict[str, Any]
) -> PgassayError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class SpecError(PgassayError):
    """The experiment file is wrong: which file, which key, what to write instead."""

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        key: str | None = None,
        excerpt: str = "",
    ) -> None:
        problem = _LONG_WORD.sub(lambda word: f"{word[0][:60]}…", problem)
        self.problem = problem
        self.file = file
        self.key = key
        self.excerpt = excerpt
        super().__init__(": ".join(part for part in (file, key, problem) if part))

    def in_file(self, file: str | None) -> Self:
        """Returns the error, which names this file from now on if it named none, and if one
        is given."""
        if file and self.file is None:
            self.file = file
            self.args = (f"{file}: {self.args[0]}",)
        return self


class SetupError(PgassayError):
    """Something that this machine must have is missing or unreadable."""


class RunDirectoryError(PgassayError):
    """A run directory that is absent, foreign, or cannot be written."""


class TargetError(PgassayError):
    """The server under test could not be prepared, or refused a request."""

    def __init__(self, message: str, *, sqlstate: str | None = None) -> None:
        self.sqlstate = sqlstate
        super().__init__(message)


class ConnectionRefused(TargetError):
    """No session: unreachable, wrong password, no such database, too many connections."""


class SettingRejected(TargetError):
    """The server rejected a setting; settings changed before it have been restored."""

    def __init__(self, setting: str, message: str, *, sqlstate: str | None = None) -> None:
        self.setting = setting
        super().__init__(message, sqlstate=sqlstate)


class RestoreFailed(TargetError):
    """The server could not be restored; the message says what the user must do."""

    exit_code = ExitCode.RESTORE


class TrialError(PgassayError):
    """A trial failed; the trials before it are kept."""

    exit_code = ExitCode.TRIALS


class LimitPassed(TrialError):
    """A limit of `[guard]` was passed: the run ends, and its finished trials are reported."""


class GateFailed(PgassayError):
    """A gate failed: a regression. Everything is reported already, the server restored."""

    exit_code = ExitCode.GATE


class GateUndecided(PgassayError):
    """A gate is undecided: its metric is worse by the verdict, or a decision was demanded."""

    exit_code = ExitCode.UNDECIDED
