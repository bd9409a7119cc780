"""A stored run as a Python object.

Enters: the path or URL of a run or observation. Leaves: tables of pyarrow and objects of its JSON
files, each read when it is asked for. Never: analyses, writes a file, or needs pandas or polars.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from pgassay.refusals.refusal import DirectoryRefused
from pgassay.runs import rows
from pgassay.runs.catalogue import TABLES
from pgassay.samples.address import url_of
from pgassay.samples.layout import ANALYSIS, ENVIRONMENT, OBSERVATION, PLAN
from pgassay.samples.overview import overview_of
from pgassay.stores.address import shown
from pgassay.stores.fetching import fetched
from pgassay.stores.wanted import OVERVIEW, Wanted


class Run:
    """One stored run or observation.

    Tables are `pyarrow.Table`, with the columns that `pgassay sql` shows: `.to_pandas()` and
    `polars.from_arrow()` take them. Each has a column `run`, so that tables of several runs can be
    put together by `pyarrow.concat_tables`. Each access reads from disk: keep a table in a
    variable.
    """

    def __init__(self, path: Path) -> None:
        self._in_store = path if url_of(path) else None
        self.path = fetched(path, OVERVIEW).resolve()
        rows.directory(self.path)  # refuses what is no run

    def __repr__(self) -> str:
        return f"<pgassay run {self.name!r}: {self.state}>"

    @property
    def name(self) -> str:
        """The name of its directory; the column `run` of every table."""
        return self.path.name

    @property
    def question(self) -> str:
        """Returns the question that the run asks."""
        return overview_of(self._with(OVERVIEW)).question

    @property
    def state(self) -> str:
        """`finished`, `running`, `unfinished`, `changes left` or `unreadable`."""
        return overview_of(self._with(OVERVIEW)).state.value

    @property
    def started(self) -> datetime | None:
        """Returns when the run began; None where that is not stored."""
        return overview_of(self._with(OVERVIEW)).started

    @property
    def spec(self) -> str:
        """The text of its experiment file."""
        return rows.directory(self._with(Wanted(("spec.toml",)))).read_text("spec.toml")

    @property
    def plan(self) -> dict[str, Any]:
        """Returns the object of plan.json; of an observation, that of observation.json."""
        run = rows.directory(self._with(Wanted((PLAN, OBSERVATION))))
        return run.read_json(run.MARK)

    @property
    def environment(self) -> dict[str, Any]:
        """Returns the object of environment.json: server, settings, host, data."""
        return dict(rows.directory(self._with(Wanted((ENVIRONMENT,)))).environment().given)

    @property
    def analysis(self) -> dict[str, Any]:
        """analysis.json: `pgassay.analysis/1`, of an observation `pgassay.observed/1`."""
        run = rows.directory(self._with(Wanted((ANALYSIS,))))
        if not run.has(ANALYSIS):
            place = shown(self.path)
            raise DirectoryRefused("not-analysed", place, file=ANALYSIS, run=quote(place))
        return dict(run.analysis().given)

    @property
    def verdicts(self) -> pa.Table:
        """The comparisons of the primary metric; no rows before the run is analysed."""
        return self.table("verdicts")

    @property
    def comparisons(self) -> pa.Table:
        """Every metric of every level against its baseline; no rows before the run is analysed."""
        return self.table("comparisons")

    @property
    def arms(self) -> pa.Table:
        """The level of each factor in each arm."""
        return self.table("arms")

    @property
    def trials(self) -> pa.Table:
        """One row per finished trial, invalid ones too."""
        return self.table("trials")

    @property
    def metrics(self) -> pa.Table:
        """Every estimate of each trial that counts; no rows before the run is analysed."""
        return self.table("metrics")

    @property
    def seconds(self) -> pa.Table:
        """The load by interval (a second) and scenario."""
        return self.table("seconds")

    @property
    def waits(self) -> pa.Table:
        """One row per busy session and tick of the sampler; no wait event is CPU."""
        return self.table("waits")

    @property
    def postgres(self) -> pa.Table:
        """Counters of the server as they were read."""
        return self.table("postgres")

    @property
    def host(self) -> pa.Table:
        """Counters of the server's host as they were read."""
        return self.table("host")

    @property
    def checkpoints(self) -> pa.Table:
        """Returns the checkpoints that the server's log reports."""
        return self.table("checkpoints")

    @property
    def events(self) -> pa.Table:
        """Other events of the server's log."""
        return self.table("events")

    @property
    def statements(self) -> pa.Table:
        """Texts of statements, and what each took in each arm."""
        return self.table("statements")

    @property
    def settings(self) -> pa.Table:
        """The server's settings when the run began."""
        return self.table("settings")

    def table(self, name: str) -> pa.Table:
        """Returns one of the tables of `pgassay sql`, by its name."""
        if name not in TABLES:
            raise DirectoryRefused("no-such-table", repr(name), known=", ".join(TABLES))
        found = TABLES[name]
        path = self._with(found.reads)
        found.check(path)
        read = found.of([path])
        return read.to_table() if isinstance(read, ds.Dataset) else read

    def _with(self, wanted: Wanted) -> Path:
        """Its directory with these files: of a run in a store, a copy as it is now."""
        return fetched(self._in_store, wanted) if self._in_store else self.path
