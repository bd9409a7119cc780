"""What a server's configuration files say, loaded or not.

Enters: a session. Leaves: the last line of each setting, and the errors in the files; nothing
where this user may not see them. Never: judges either.

PostgreSQL documentation: pg_file_settings, which reads the files as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from pgassay.server.protocol import Connection
from pgassay.server.statements import statement


@dataclass(frozen=True)
class Written:
    """The last line of a setting in the configuration files as they are."""

    file: str
    line: int
    value: str


@dataclass(frozen=True)
class FileError:
    """A line of a configuration file that the server cannot load."""

    file: str
    line: int
    setting: str
    """Empty where the file itself is wrong."""
    error: str

    def __str__(self) -> str:
        name = f"{self.setting}: " if self.setting else ""
        return f"{self.file} line {self.line}: {name}{self.error}"


@dataclass(frozen=True)
class FileLines:
    """What the server's configuration files say."""

    lines: Mapping[str, Written]
    """By the setting's name in small letters."""
    errors: tuple[FileError, ...]


def read_file_lines(session: Connection) -> FileLines | None:
    """Reads the lines of the configuration files; None where this user may not see them."""
    try:
        rows = session.execute(statement("settings/file_settings"), prepare=False).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return None
    lines = {row[2]: Written(row[0], row[1], row[3]) for row in rows if row[2] and row[0]}
    # Without a file: a line that was taken out, and whose absence takes a restart.
    wrong = [row for row in rows if row[4] is not None and row[0] is not None]
    return FileLines(lines, tuple(FileError(row[0], row[1], row[2] or "", row[4]) for row in wrong))
