"""Every table over stored runs, by its name.

Enters: paths of runs. Leaves: tables and datasets. Never: knows who asks, SQL or Python.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from importlib.resources import files
from operator import or_
from pathlib import Path
from shlex import quote
from typing import TypeAlias

import pyarrow as pa
import pyarrow.dataset as ds

from pgassay.errors import PgassayError
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.runs import columns, rows
from pgassay.runs.rows import Row
from pgassay.runs.samples import check_files, dataset
from pgassay.samples.layout import ANALYSIS, ENVIRONMENT, JOURNAL, OBSERVATION, PLAN, STATEMENTS
from pgassay.stores.wanted import Wanted

Found: TypeAlias = "pa.Table | ds.Dataset"
Told = Callable[[Path, str], None]
"""Told the path of a run that cannot be read, and why."""


@dataclass(frozen=True)
class RunTable:
    """One table: its columns, and where its rows come from."""

    name: str
    schema: pa.Schema
    reads: Wanted
    """Files of a run that its rows are made of."""
    of_run: Callable[[Path], Iterator[Row]] | None = None
    """Of one run; None where the rows are samples."""
    file: str = ""
    """The Parquet file of samples, without its ending."""

    def of(self, paths: Iterable[Path]) -> Found:
        """Reads the rows of these runs; the first that cannot be read is an error."""
        if self.of_run is None:
            return dataset(self.file, paths)
        return self._joined(self._rows(self.of_run, path) for path in paths)

    def of_readable(self, paths: Iterable[Path], unreadable: Told) -> Found:
        """Reads the rows of those runs that can be read."""
        if self.of_run is None:
            return dataset(self.file, paths)
        found = []
        for path in paths:
            try:
                found.append(self._rows(self.of_run, path))
            except PgassayError as error:
                unreadable(path, str(error))
        return self._joined(found)

    def check(self, path: Path) -> None:
        """Refuses a run whose samples cannot be read."""
        if self.of_run is None:
            check_files(self.file, path)

    def _rows(self, of_run: Callable[[Path], Iterator[Row]], path: Path) -> pa.Table:
        try:
            rows_of = [{**row, "run": path.name} for row in of_run(path)]
            return pa.Table.from_pylist(rows_of, self.schema)
        except pa.ArrowException as error:
            run = quote(str(path))
            raise DirectoryRefused("json-of-another-version", path, why=error, run=run) from None

    def _joined(self, tables: Iterable[pa.Table]) -> pa.Table:
        return pa.concat_tables([self.schema.empty_table(), *tables])


_SAMPLED = {
    "seconds": "load",
    "waits": "waits",
    "postgres": "postgres",
    "host": "host",
    "checkpoints": "checkpoints",
    "events": "events",
}
_ANALYSED = Wanted((PLAN, OBSERVATION, ANALYSIS))
_DESCRIBED = Wanted((PLAN, OBSERVATION, ENVIRONMENT))
TABLES: Mapping[str, RunTable] = {
    one.name: one
    for one in (
        RunTable("runs", columns.RUNS, _DESCRIBED | Wanted((JOURNAL,), (ANALYSIS,)), rows.runs),
        RunTable("verdicts", columns.COMPARISONS, _ANALYSED, rows.verdicts),
        RunTable("comparisons", columns.COMPARISONS, _ANALYSED, rows.comparisons),
        RunTable("arms", columns.ARMS, Wanted((PLAN, OBSERVATION)), rows.arms),
        RunTable(
            "trials", columns.TRIALS, Wanted((PLAN, OBSERVATION, "*/trial.json")), rows.trials
        ),
        RunTable("metrics", columns.METRICS, _ANALYSED, rows.metrics),
        *(
            RunTable(
                name,
                columns.sampled(file),
                Wanted((PLAN, OBSERVATION, f"*/{file}.parquet")),
                file=file,
            )
            for name, file in _SAMPLED.items()
        ),
        RunTable(
            "statements", columns.STATEMENTS, _ANALYSED | Wanted((STATEMENTS,)), rows.statements
        ),
        RunTable("settings", columns.SETTINGS, _DESCRIBED, rows.settings),
        RunTable("environment", columns.ENVIRONMENT, _DESCRIBED, rows.environment),
    )
}


def meant_by(query: str) -> list[RunTable]:
    """Returns the tables that a query may mean."""
    words = {word.lower() for word in re.findall(r"\w+", query)}
    return [table for table in TABLES.values() if table.name in words]


def wanted_by(query: str) -> Wanted:
    """Returns the files of runs that a query may need."""
    return reduce(or_, (table.reads for table in meant_by(query)), Wanted((PLAN, OBSERVATION)))


@cache
def descriptions() -> dict[str, str]:
    """Says in a sentence what each table holds."""
    text = (files("pgassay") / "runs" / "tables.toml").read_text("utf-8")
    return {name: str(said) for name, said in tomllib.loads(text).items()}
