"""The steps of a reset, in their order, timed.

Enters: a session, a rule. Leaves: data vacuumed, caches by the rule,
statistics and checkpoint afresh, and how long each step took.
Never: resets the statistics of a server that is not ours.

The order is: put back and start, VACUUM, caches, statistics, CHECKPOINT. A frozen copy has its
VACUUM (FREEZE, ANALYZE) inside: another ANALYZE would draw another sample, and so other plans.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.spec.reset import Caches, ResetLevel, ResetRule
from pgassay.target.caches import cool, doubt, warm
from pgassay.target.page_cache import readable
from pgassay.target.protocol import CacheState, Connection, Context, Setting
from pgassay.target.schema import checkpoint, vacuum_schema
from pgassay.target.session import told_as_target_error
from pgassay.target.settings import find
from pgassay.target.statements import statement


class Phases:
    """How long each step of one reset took."""

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
        """Since the reset began."""
        return time.monotonic() - self._began


class RestartFactors:
    """Whether the arms differ in a setting that needs a restart.

    Under a level that lets the server run on, trials would then begin after a restart or not,
    as the order of the arms falls; so every one of them gets a restart.
    """

    def __init__(self) -> None:
        self._values: dict[str, set[str]] = {}

    def seen(self, known: Mapping[str, Setting], settings: Mapping[str, str]) -> None:
        """What an arm asks for."""
        for name, value in settings.items():
            setting = find(known, name)
            if setting is not None and setting.context is Context.POSTMASTER:
                self._values.setdefault(setting.name, set()).add(value)

    @property
    def any(self) -> bool:
        """Whether one of them has two values."""
        return any(len(values) > 1 for values in self._values.values())

    def changed(
        self, known: Mapping[str, Setting], before: Mapping[str, str], wanted: Mapping[str, str]
    ) -> bool:
        """Whether a restart lies between two sets of settings."""
        return any(
            setting is not None
            and setting.context is Context.POSTMASTER
            and before.get(name) != wanted.get(name)
            for name in {*before, *wanted}
            for setting in [find(known, name)]
        )


def vacuum(connected: Callable[[], Connection]) -> None:
    """Every table of the database: dead rows gone, rows frozen, statistics of the planner new."""
    with told_as_target_error("VACUUM before a trial"), connected() as session:
        session.execute("VACUUM (FREEZE, ANALYZE)")


def settle_owned(
    session: Connection, rule: ResetRule, data: Path, phases: Phases
) -> CacheState | None:
    """What comes after the start: caches, statistics, CHECKPOINT."""
    state = None
    if rule.caches is Caches.WARM:
        with phases("caches"):
            state = warm(session, data_directories(data))
    if rule.level is not ResetLevel.NONE:
        with phases("statistics"):
            session.execute(statement("reset_statistics"))
        with phases("checkpoint"):
            session.execute("CHECKPOINT")
    return state


def settle_existing(
    session: Connection, rule: ResetRule, data: Path | None, phases: Phases
) -> tuple[list[str], CacheState | None]:
    """VACUUM, caches and CHECKPOINT on a server that is not ours; what was left out or is odd.

    `data` is its data directory, where it is on this host and may be known.
    """
    notes: list[str] = []
    state = None
    if rule.level is ResetLevel.VACUUM:
        with phases("vacuum"):
            notes += vacuum_schema(session)
    if rule.caches is not Caches.AS_IS:
        with phases("caches"):
            folders = database_directories(session, data)
            state = warm(session, folders) if rule.caches is Caches.WARM else cool(folders)
            notes += [text for text in [doubt(state)] if text is not None]
    if rule.level is not ResetLevel.NONE:
        with phases("checkpoint"):
            notes += checkpoint(session)
    return notes, state


def database_directories(session: Connection, data: Path | None) -> list[Path]:
    """Where the files of the session's database are, if this user may read them."""
    row = session.execute(statement("database_oid")).fetchone()
    # A number only: the server's word must not lead anywhere else on this host.
    if data is None or row is None or not re.fullmatch("[0-9]+", row[0]):
        return []
    number = row[0]
    found = [data / "base" / number, *data.glob(f"pg_tblspc/*/*/{number}")]
    folders = [folder for folder in found if folder.is_dir()]
    return folders if readable(folders) else []


def refuse_unreadable(session: Connection, data: Path | None) -> None:
    """Stop where the host's pages of an existing server's data cannot be dropped."""
    if not database_directories(session, data):
        raise TargetError(
            "reset.caches = 'cold': the server's files are not on this host, or closed to this"
            " user; run pgassay there as root or as the server's user, or take warm or as-is"
        )


def data_directories(data: Path) -> list[Path]:
    """Where the tables and indexes of a cluster are."""
    return [data / "base", data / "pg_tblspc"]
