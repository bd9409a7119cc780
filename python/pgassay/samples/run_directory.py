"""One run's directory: everything needed to analyse, compare or repeat it.

Enters: the spec's text, the plan, trial records. Leaves: files, whole or absent.
Never: interprets what it stores.

    RUN/  spec.toml  workload.json  plan.json  environment.json  journal.jsonl  failed.jsonl
          statements.json
          trials/0001/  trial.json  load.parquet  waits.parquet  postgres.parquet
                        host.parquet  checkpoints.parquet  events.parquet  plans.json  command.log
                        queries.parquet  query_plans.json
                  output-0002/  what the load of an unfinished trial wrote
          profiles/  where the arms were profiled (`profiles.py`)
          analysis.json  report.html
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from pgassay.durable import make_directory, sync_directory
from pgassay.errors import PgassayError
from pgassay.json_text import decoded
from pgassay.plan.model import Plan
from pgassay.plan.store import plan_to_json
from pgassay.samples.forms.queries import QueryPlansFile
from pgassay.samples.forms.statements import PlansFile
from pgassay.samples.forms.trial import FailedLine, TrialFile
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.samples.layout import (
    FAILED,
    JOURNAL,
    PLAN,
    PLANS,
    PROFILES,
    QUERIES,
    QUERY_PLANS,
    SPEC,
    TRIAL,
    TRIALS,
)
from pgassay.samples.ownership.own_runs import remember_begun
from pgassay.samples.profiles import ProfileDirectory
from pgassay.samples.run_files import RunFiles
from pgassay.samples.storage.files import append_line, clear_errors, write_atomically
from pgassay.samples.storage.histogram_layout import with_layout
from pgassay.samples.storage.json_files import without_secrets
from pgassay.samples.storage.tables import TABLES, as_table, logged_tables, parquet, parquet_of
from pgassay.samples.stored_parts import StoredTrial
from pgassay.spec.experiment import Spec
from pgassay.spec.stored import WORKLOAD_COPY, materials_to_json
from pgassay.trials.model.columns import QUERIES as QUERY_ROWS
from pgassay.trials.model.columns import PackedTables
from pgassay.trials.model.record import Columns, FailedTrial, TrialRecord


class RunDirectory(RunFiles):
    """Writes a run as it happens, and reads one back."""

    def journal(self) -> FileJournal:
        """Returns the journal of changes to the target."""
        return FileJournal(self.path / JOURNAL)

    def profiles(self) -> ProfileDirectory:
        """Returns the folder of its arms' profiles, if they were taken."""
        return ProfileDirectory(self.path / PROFILES)

    def store_design(self, spec: Spec, plan: Plan) -> None:
        """Writes everything that it takes to repeat or resume the run."""
        self.write_text(SPEC, spec.text)
        self.write_json(WORKLOAD_COPY, materials_to_json(spec), verbatim=True)
        remember_begun(self.path)
        self.store_plan(plan)

    def store_plan(self, plan: Plan) -> None:
        """Writes the plan, again where the run has dropped an arm."""
        self.write_json(PLAN, plan_to_json(plan))

    def finish(self) -> str:
        """Ends the writing of a run, whether it succeeded or not; returns where a store has it, or
        nothing for a run on this machine."""
        return ""

    def is_empty(self) -> bool:
        """Returns whether it has nothing of a trial, and nothing is left to undo."""
        return not any((self.path / TRIALS).iterdir()) and not open_changes(self.path / JOURNAL)

    def note_failed(self, trial: FailedTrial) -> None:
        """Stores that a trial broke off by what happened in it: it is run again, and the report
        says so. A disk that takes no more must not hide why."""
        with suppress(PgassayError):
            append_line(self.path / FAILED, FailedLine.of(trial).to_json())

    def failed(self) -> tuple[FailedTrial, ...]:
        """Reads the trials that broke off and were not stored, oldest first; a damaged line is
        skipped."""
        path, found = self.path / FAILED, []
        with clear_errors(path):
            lines = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
        for line in lines:
            with suppress(ValueError):
                found.append(FailedTrial(**dict(FailedLine.model_validate(decoded(line)))))
        return tuple(found)

    def write_trial(self, record: TrialRecord) -> None:
        """Stores one finished trial; it is there whole, or not at all."""
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
                write_atomically(aside / TRIAL, without_secrets(TrialFile.of(record)))
                if record.plans:
                    plans = PlansFile.model_validate(record.plans)
                    write_atomically(aside / PLANS, without_secrets(plans))
                if record.queries:
                    table = as_table(record.queries, QUERY_ROWS)
                    write_atomically(aside / QUERIES, parquet(table))
                    planned = QueryPlansFile.model_validate(record.query_plans)
                    write_atomically(aside / QUERY_PLANS, without_secrets(planned))
                for file in record.kept:
                    shutil.move(file, aside / file.name)
                aside.rename(final)
                sync_directory(final.parent)
                shutil.rmtree(self._output(record.number), ignore_errors=True)
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise
        self.add_statements(record.statements)

    def output_folder(self, number: int) -> Path:
        """Makes an empty folder for what a trial's load writes; it stays where the trial fails."""
        folder = self._output(number)
        with clear_errors(folder):
            make_directory(folder)
        return folder.resolve()

    def _output(self, number: int) -> Path:
        return self.path / TRIALS / f"output-{number:04d}"

    def trial(self, number: int) -> StoredTrial:
        """Returns one finished trial."""
        return StoredTrial(self.path / TRIALS / f"{number:04d}")

    def trials(self) -> Iterator[StoredTrial]:
        """Returns the finished trials by their numbers; those run again come last."""
        return (self.trial(number) for number in self.finished())


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
