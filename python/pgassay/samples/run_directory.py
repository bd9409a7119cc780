"""One run's directory: everything needed to analyse, compare or repeat it.

Enters: the spec's text, the plan, trial records. Leaves: files, whole or absent.
Never: interprets what it stores.

    RUN/  spec.toml  workload.json  plan.json  environment.json  journal.jsonl  failed.jsonl
          statements.json
          trials/0001/  trial.json  load.parquet  waits.parquet  postgres.parquet
                        host.parquet  checkpoints.parquet  events.parquet  plans.json  command.log
                  output-0002/  what the load of an unfinished trial wrote
          profiles/  where the arms were profiled (`profiles.py`)
          analysis.json  report.html
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from pgassay.durable import make_directory, sync_directory
from pgassay.errors import RunDirectoryError
from pgassay.notes import notes_from_json
from pgassay.samples.failed_trials import FAILED, failed_trials, note_failed
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.statements import PlansFile, PlansOfArm, StatementsFile
from pgassay.samples.forms.trial import TrialFile
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.samples.layout import ENVIRONMENT, JOURNAL, PLAN, RUNS_FOLDER, STATEMENTS, TRIALS
from pgassay.samples.profiles import PROFILES, ProfileDirectory
from pgassay.samples.storage.files import clear_errors, make_empty, write_atomically
from pgassay.samples.storage.histogram_layout import with_layout
from pgassay.samples.storage.json_files import (
    as_json,
    parsed_file,
    read_text,
    stored_file,
    without_secrets,
)
from pgassay.samples.storage.tables import (
    TABLES,
    Batched,
    as_table,
    logged_tables,
    parquet_of,
    read_table,
)
from pgassay.spec.secrets.redaction import redacted_value
from pgassay.stored_model import StoredFile
from pgassay.trials.model.packed import PackedTables
from pgassay.trials.model.record import (
    Columns,
    FailedTrial,
    TrialRecord,
    Validity,
)

MOST_STATEMENTS = 500
"""Beyond them no text is added: a load may make new statements without end."""
PLANS = "plans.json"


def default_run_path(name: str, now: datetime | None = None) -> Path:
    """`pgassay-runs/2026-01-31-142501-NAME`, with a number where a run of that second is there."""
    moment = (now or datetime.now(UTC).astimezone()).strftime("%Y-%m-%d-%H%M%S")
    names = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    paths = (Path(RUNS_FOLDER) / f"{moment}-{name}{more}" for more in names)
    return next(path for path in paths if not path.exists())


class RunDirectory:
    """Writes a run as it happens, and reads one back."""

    KIND, DESCRIBED_BY, PARTS = "run directory", PLAN, TRIALS
    """What it is called, the file that shows it is one, the folder of its trials or segments."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path) -> Self:
        """Make a new, empty one; refuses a directory that holds anything."""
        make_empty(path)
        with clear_errors(path):
            make_directory(path / cls.PARTS)
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """An existing one; refuses a folder that is not one."""
        if not path.exists():
            raise RunDirectoryError(f"{path}: does not exist; `pgassay list` shows stored runs")
        if not (path / cls.DESCRIBED_BY).is_file():
            raise RunDirectoryError(f"{path}: is not a {cls.KIND} (it has no {cls.DESCRIBED_BY})")
        return cls(path)

    @property
    def place(self) -> str:
        """What people and programs name it by."""
        return str(self.path)

    def journal(self) -> FileJournal:
        """The journal of changes to the target."""
        return FileJournal(self.path / JOURNAL)

    def profiles(self) -> ProfileDirectory:
        """The profiles of its arms, if they were taken."""
        return ProfileDirectory(self.path / PROFILES)

    def write_text(self, name: str, text: str) -> Path:
        """A text file in the run's top folder."""
        write_atomically(self.path / name, text.encode())
        return self.path / name

    def write_json(self, name: str, value: Mapping[str, Any], *, verbatim: bool = False) -> None:
        """A JSON file in the run's top folder; secrets are taken out unless it must be verbatim."""
        write_atomically(
            self.path / name, as_json(value if verbatim else redacted_value(dict(value)))
        )

    def write_file(self, name: str, file: StoredFile) -> None:
        """A JSON file of the run's top folder, by its model."""
        write_atomically(self.path / name, without_secrets(file))

    def read_text(self, name: str) -> str:
        """A text file of the run's top folder."""
        return read_text(self.path / name)

    def read_json(self, name: str) -> dict[str, Any]:
        """A JSON file of the run's top folder."""
        return parsed_file(self.path / name)

    def environment(self) -> dict[str, Any]:
        """environment.json; empty where the run ended before its server was ready."""
        if not self.has(ENVIRONMENT):
            return {}
        return dict(stored_file(self.path / ENVIRONMENT, EnvironmentFile).given)

    def has(self, name: str) -> bool:
        """Whether the run's top folder holds this file."""
        return (self.path / name).is_file()

    def discard_if_empty(self) -> bool:
        """Remove a run with nothing of a trial and nothing left to undo; whether it was."""
        if any((self.path / TRIALS).iterdir()) or open_changes(self.path / JOURNAL):
            return False
        shutil.rmtree(self.path, ignore_errors=True)
        return True

    def note_failed(self, trial: FailedTrial) -> None:
        """Store that a trial broke off: it is run again, and the report says so."""
        note_failed(self.path / FAILED, trial)

    def failed(self) -> tuple[FailedTrial, ...]:
        """Trials that broke off and were not stored, oldest first."""
        return failed_trials(self.path / FAILED)

    def write_trial(self, record: TrialRecord) -> None:
        """Store one finished trial; it is there whole, or not at all."""
        final = self.path / TRIALS / f"{record.number:04d}"
        aside = final.with_name(f".{final.name}.part")
        with clear_errors(final):
            try:
                make_directory(aside)
                for name, parts in _tables(record).items():
                    schema = TABLES[name]
                    if name == "load":
                        schema = with_layout(schema, record.leading_bits)
                    write_atomically(aside / f"{name}.parquet", parquet_of(parts, schema))
                write_atomically(aside / "trial.json", without_secrets(TrialFile.of(record)))
                if record.plans:
                    write_atomically(
                        aside / PLANS,
                        as_json(redacted_value(PlansFile.model_validate(record.plans).to_json())),
                    )
                for file in record.kept:
                    shutil.move(file, aside / file.name)
                aside.rename(final)
                sync_directory(final.parent)
                shutil.rmtree(self._output(record.number), ignore_errors=True)
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise
        self.add_statements(record.statements)

    def add_statements(self, texts: Mapping[str, str]) -> None:
        """Store the texts of statements that have none yet, up to a limit."""
        known = self.statements()
        room = MOST_STATEMENTS - len(known)
        unknown = (item for item in texts.items() if item[0] not in known)
        new = dict(itertools.islice(unknown, max(room, 0)))
        if new:
            self.write_file(STATEMENTS, StatementsFile(statements={**known, **new}))

    def statements(self) -> dict[str, str]:
        """queryid → text; empty where the server did not tell."""
        if not self.has(STATEMENTS):
            return {}
        return stored_file(self.path / STATEMENTS, StatementsFile).statements

    def output_folder(self, number: int) -> Path:
        """An empty folder for what a trial's load writes; it stays where the trial fails."""
        folder = self._output(number)
        with clear_errors(folder):
            make_directory(folder)
        return folder.resolve()

    def _output(self, number: int) -> Path:
        return self.path / TRIALS / f"output-{number:04d}"

    def trial(self, number: int) -> StoredTrial:
        """One finished trial."""
        return StoredTrial(self.path / TRIALS / f"{number:04d}")

    def finished(self) -> list[int]:
        """Numbers of the finished trials or segments, in their order."""
        folders = (self.path / self.PARTS).glob("[0-9]*")  # nothing where the folder is gone
        return sorted(int(folder.name) for folder in folders if folder.name.isdigit())

    def trials(self) -> Iterator[StoredTrial]:
        """The finished trials by their numbers; those run again come last."""
        return (self.trial(number) for number in self.finished())


class StoredPart:
    """The tables of one trial or segment, read back from its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def table(self, name: str) -> pa.Table:
        """One of the Parquet files, by its name without the ending."""
        return read_table(self.folder / f"{name}.parquet", name)

    def sample_bytes(self) -> int:
        """The size of its Parquet files, which hold many times as much."""
        return sum(file.lstat().st_size for file in self.folder.glob("*.parquet"))

    def batched(self, name: str) -> Batched:
        """The same, some rows at a time."""
        return Batched(self.folder / f"{name}.parquet", name)


class StoredTrial(StoredPart):
    """One trial read back from its folder."""

    def summary(self) -> TrialFile:
        """trial.json."""
        return self._summary

    @cached_property
    def _summary(self) -> TrialFile:
        return stored_file(self.folder / "trial.json", TrialFile)

    def plans(self) -> tuple[PlansOfArm, ...]:
        """plans.json by arm; empty where the plans of statements were not read."""
        path = self.folder / PLANS
        return stored_file(path, PlansFile).arms if path.is_file() else ()

    def validity(self) -> Validity:
        """Whether it counts."""
        found = self.summary().validity
        return Validity(notes_from_json(found.notes, found.reasons))


def _tables(record: TrialRecord) -> dict[str, Iterable[pa.Table]]:
    logged = logged_tables(record.checkpoints, record.events)
    sampled = {"waits": record.waits, "postgres": record.counters, "host": record.host}
    return {
        "load": [as_table(record.intervals, TABLES["load"])],
        **{name: _parts(found, TABLES[name]) for name, found in sampled.items()},
        **{name: [table] for name, table in logged.items()},
    }


def _parts(found: Columns | PackedTables, schema: pa.Schema) -> Iterable[pa.Table]:
    return found if isinstance(found, PackedTables) else [as_table(found, schema)]
