"""The steps of a reset, in their order, timed.

Enters: a session, a rule. Leaves: data vacuumed, caches as the rule says, statistics reset, a
checkpoint made, and how long each step took.
Never: resets the statistics of an existing server.

The order is: put back and start, VACUUM, caches, statistics, CHECKPOINT. A frozen copy was vacuumed
and analysed before: another ANALYZE would draw another sample and might change plans.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pgassay.notes import Note
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import as_target_error
from pgassay.server.data.caches import caveat, drop_from_caches, read_into_caches
from pgassay.server.data.installed_tables import vacuum_installed
from pgassay.server.data.schema import checkpoint, vacuum_schema
from pgassay.server.hosts.page_cache import readable
from pgassay.server.protocol import CacheState, Connection, Context, Setting
from pgassay.server.settings.values import find
from pgassay.server.statements import statement
from pgassay.spec.server.reset import Caches, ResetLevel, ResetRule
from pgassay.spec.workload.folder import InstalledTables


class Phases:
    """Measures how long each step of one reset takes, in seconds."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Around one step."""
        began = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - began, 4)

    @property
    def total_s(self) -> float:
        """Seconds since the reset began."""
        return time.monotonic() - self._began


class RestartFactors:
    """Whether the arms differ in a setting that needs a restart.

    If they do, every trial begins with a restart, at every level. Otherwise the order of arms would
    decide which trials begin after one.
    """

    def __init__(self) -> None:
        self._values: dict[str, set[str]] = {}

    def add(self, known: Mapping[str, Setting], settings: Mapping[str, str]) -> None:
        """Notes the settings of one more arm."""
        for name, value in settings.items():
            setting = find(known, name)
            if setting is not None and setting.context is Context.POSTMASTER:
                self._values.setdefault(setting.name, set()).add(value)

    @property
    def any(self) -> bool:
        """Whether a setting that takes a restart has two values among the arms."""
        return any(len(values) > 1 for values in self._values.values())

    def changed(
        self, known: Mapping[str, Setting], before: Mapping[str, str], wanted: Mapping[str, str]
    ) -> bool:
        """Returns whether it takes a restart to change one set of settings into the other."""
        return any(
            setting is not None
            and setting.context is Context.POSTMASTER
            and before.get(name) != wanted.get(name)
            for name in {*before, *wanted}
            for setting in [find(known, name)]
        )


def vacuum(connected: Callable[[], Connection]) -> None:
    """Runs VACUUM (FREEZE, ANALYZE) on every table of the database."""
    with as_target_error("VACUUM before a trial"), connected() as session:
        session.execute("VACUUM (FREEZE, ANALYZE)")


def settle_owned(
    session: Connection, rule: ResetRule, data: Path, phases: Phases, *, limited: bool = False
) -> CacheState | None:
    """Does what follows the start of an owned server: caches, statistics, CHECKPOINT.

    `limited` says that the server's memory is: then only what it reads itself counts.
    """
    state = None
    if rule.caches is Caches.WARM:
        with phases("caches"):
            state = read_into_caches(session, data_directories(data), by_server=limited)
    if rule.level is not ResetLevel.NONE:
        with phases("statistics"):
            session.execute(statement("data/reset_statistics"))
        with phases("checkpoint"):
            session.execute("CHECKPOINT")
    return state


def settle_existing(
    session: Connection,
    rule: ResetRule,
    data: Path | None,
    phases: Phases,
    installed: InstalledTables | None = None,
) -> tuple[list[Note], CacheState | None]:
    """VACUUM, caches and CHECKPOINT on an existing server; notes on what was left out.

    `data` is its data directory, where it is on this host and may be known; `installed` are the
    tables of a workload that made none.
    """
    notes: list[Note] = []
    state = None
    if rule.level is ResetLevel.VACUUM:
        with phases("vacuum"):
            notes += (
                vacuum_schema(session)
                if installed is None
                else vacuum_installed(session, installed)
            )
    if rule.caches is not Caches.AS_IS:
        with phases("caches"):
            folders = database_directories(session, data)
            state = (
                read_into_caches(session, folders)
                if rule.caches is Caches.WARM
                else drop_from_caches(folders)
            )
            notes += [text for text in [caveat(state)] if text is not None]
    if rule.level is not ResetLevel.NONE:
        with phases("checkpoint"):
            notes += checkpoint(session)
    return notes, state


def database_directories(session: Connection, data: Path | None) -> list[Path]:
    """Returns the directories with the files of the session's database, if this user may
    read them."""
    row = session.execute(statement("data/database_oid")).fetchone()
    # Only a number: no answer of the server may lead to another directory of this host.
    if data is None or row is None or not re.fullmatch("[0-9]+", row[0]):
        return []
    number = row[0]
    found = [data / "base" / number, *data.glob(f"pg_tblspc/*/*/{number}")]
    folders = [folder for folder in found if folder.is_dir()]
    return folders if readable(folders) else []


def refuse_unreadable(session: Connection, data: Path | None) -> None:
    """Refuse cold caches where the files of an existing server cannot be reached."""
    if not database_directories(session, data):
        raise TargetRefused("cold-caches-elsewhere", "reset.caches = 'cold'")


def data_directories(data: Path) -> list[Path]:
    """Returns the directories that the tables and indexes of a server lie in."""
    return [data / "base", data / "pg_tblspc"]
