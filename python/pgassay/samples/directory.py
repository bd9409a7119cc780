"""A directory that pgassay has made: what runs, observations, traces and profiles share.

Enters: a path, texts, models of JSON files. Leaves: files, whole or absent, and what they hold.
Never: interprets what it stores.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar, Self, TypeVar

from pgassay.durable import make_directory
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.forms.analysis import AnalysisFile
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.statements import StatementsFile
from pgassay.samples.layout import (
    ANALYSIS,
    ENVIRONMENT,
    OBSERVATION,
    PROFILES_INDEX,
    RUNS_FOLDER,
    STATEMENTS,
    TRACE,
)
from pgassay.samples.storage.files import clear_errors, make_empty, write_atomically
from pgassay.samples.storage.json_files import (
    as_json,
    parsed_file,
    read_text,
    stored_file,
    without_secrets,
)
from pgassay.spec.secrets.redaction import redacted_value
from pgassay.stored_model import StoredFile

_File = TypeVar("_File", bound=StoredFile)
MOST_STATEMENTS = 500
"""Beyond them no text is added: a load may make new statements without end."""
_OTHERS = {OBSERVATION: "is-an-observation", TRACE: "is-a-trace", PROFILES_INDEX: "is-a-profile"}
"""The mark of a directory → the refusal where another kind was asked for."""
_NONE = "is-another-kind"


def default_run_path(name: str, now: datetime | None = None) -> Path:
    """Returns a new path such as `pgassay-runs/2026-01-31-142501-NAME`, with a number where a run
    of that second is there."""
    moment = (now or datetime.now(UTC).astimezone()).strftime("%Y-%m-%d-%H%M%S")
    names = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    paths = (Path(RUNS_FOLDER) / f"{moment}-{name}{more}" for more in names)
    return next(path for path in paths if not path.exists())


class StoredDirectory:
    """Writes a directory as it fills, and reads one back."""

    KIND: ClassVar[str]
    """What it is called."""
    MARK: ClassVar[str]
    """The file that shows it is one."""
    PARTS: ClassVar[str] = ""
    """The folder of its trials or segments; empty where it has none."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path) -> Self:
        """Makes a new, empty directory; refuses one that holds anything."""
        make_empty(path)
        if cls.PARTS:
            with clear_errors(path):
                make_directory(path / cls.PARTS)
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Opens an existing directory; refuses a folder that is not of this kind."""
        if not path.exists():
            raise DirectoryRefused("does-not-exist", path)
        if path.is_file():
            raise DirectoryRefused("is-a-file", path, kind=cls.KIND)
        if not cls.is_at(path):
            code = next((one for mark, one in _OTHERS.items() if (path / mark).is_file()), _NONE)
            values = {"kind": cls.KIND, "mark": cls.MARK, "run": quote(str(path))}
            raise DirectoryRefused(code, path, **values)
        return cls(path)

    @classmethod
    def is_at(cls, path: Path) -> bool:
        """Returns whether a directory is one of this kind."""
        return (path / cls.MARK).is_file()

    @property
    def place(self) -> str:
        """The path or URL that people and programs name it by."""
        return str(self.path)

    @property
    def name(self) -> str:
        """The last part of its path, as reports show it."""
        return self.path.resolve().name

    def has(self, name: str) -> bool:
        """Returns whether its top folder holds this file."""
        return (self.path / name).is_file()

    def write_text(self, name: str, text: str) -> Path:
        """Writes a text file of the top folder."""
        write_atomically(self.path / name, text.encode())
        return self.path / name

    def write_json(self, name: str, value: Mapping[str, Any], *, verbatim: bool = False) -> None:
        """Writes a JSON file of the top folder; secrets are taken out unless it is verbatim."""
        write_atomically(
            self.path / name, as_json(value if verbatim else redacted_value(dict(value)))
        )

    def write_file(self, name: str, file: StoredFile) -> None:
        """Writes a JSON file of the top folder by its model, without secrets."""
        write_atomically(self.path / name, without_secrets(file))

    def read_text(self, name: str) -> str:
        """Reads a text file of the top folder."""
        return read_text(self.path / name)

    def _read(self, name: str, model: type[_File]) -> _File | None:
        return stored_file(self.path / name, model) if self.has(name) else None

    def read_json(self, name: str) -> dict[str, Any]:
        """Reads a JSON file of the top folder; empty where it is not there (yet)."""
        return parsed_file(self.path / name) if self.has(name) else {}

    def analysis(self) -> AnalysisFile:
        """Reads analysis.json; empty where nothing was analysed yet."""
        return self._read(ANALYSIS, AnalysisFile) or AnalysisFile()

    def write_environment(self, found: Mapping[str, Any]) -> None:
        """Writes environment.json, again where a run goes on."""
        self.write_file(ENVIRONMENT, EnvironmentFile.model_validate(found))

    def environment(self) -> EnvironmentFile:
        """Reads environment.json; empty where the run ended before its server was ready."""
        return self._read(ENVIRONMENT, EnvironmentFile) or EnvironmentFile()

    def add_statements(self, texts: Mapping[str, str]) -> None:
        """Stores the texts of statements that have none yet, up to a limit."""
        known = self.statements()
        room = MOST_STATEMENTS - len(known)
        unknown = (item for item in texts.items() if item[0] not in known)
        new = dict(itertools.islice(unknown, max(room, 0)))
        if new:
            self.write_file(STATEMENTS, StatementsFile(statements={**known, **new}))

    def statements(self) -> dict[str, str]:
        """Reads queryid → text of statements; empty where the server did not give them."""
        found = self._read(STATEMENTS, StatementsFile)
        return {} if found is None else found.statements

    def finished(self) -> list[int]:
        """Numbers of the finished trials or segments, in their order."""
        folders = (self.path / self.PARTS).glob("[0-9]*")  # nothing where the folder is gone
        return sorted(int(folder.name) for folder in folders if folder.name.isdigit())

    def is_empty(self) -> bool:
        """Returns whether it holds nothing that is worth keeping."""
        return not (self.finished() if self.PARTS else self.is_at(self.path))

    def discard_if_empty(self) -> bool:
        """Removes the directory if it is empty; returns whether it was removed."""
        if not self.is_empty():
            return False
        shutil.rmtree(self.path, ignore_errors=True)
        return True
