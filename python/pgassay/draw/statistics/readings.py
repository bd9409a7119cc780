"""What a server's clients did between two readings of its statistics.

Enters: a session that only reads. Leaves: the calls and costs of each statement, figures of the
whole. Never: resets a counter, reads a text before the end, or works more than a hundredth of the
time.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from pgassay.draw.model import Figures, Protocol, SourceFigures
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.trials.sampling.queries import extensions_in

_EVERY_S = 1.0
_RESTS = 100.0
"""A look at the sessions rests so many times as long as it took, or a second."""
_PREPARED_SHARE = 0.9
"""Planned more seldom than this share of its calls, what has parameters was prepared."""
_MOST_TEXTS = 30
"""Of one statement that are kept."""
_EXTENSION = "pg_stat_statements"


class Counts(NamedTuple):
    """The counters of one statement and role; `calls` to `plans` grow."""

    calls: int
    time_ms: float
    rows: int
    blocks_found: int
    blocks_read: int
    blocks_dirtied: int
    wal_bytes: int
    plans: int

    def since(self, before: Counts | None) -> Counts:
        """Returns the growth; all of it where the statement was forgotten in between."""
        if before is None or before.calls > self.calls:
            return self
        growth: list[Any] = [max(0, now - then) for now, then in zip(self, before, strict=True)]
        return Counts(*growth)


@dataclass(frozen=True, slots=True)
class Called:
    """A statement that was called in the time between the readings."""

    query_ids: tuple[int, ...]
    """Several where clients send one text with parameters of various types; most calls first."""
    role: int
    """The oid of the role that called it most."""
    text: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class Readings:
    """What happened between two readings."""

    called: tuple[Called, ...]
    """Most time first."""
    hidden: Figures
    """What this role may not see."""
    figures: SourceFigures
    protocol: Protocol
    codes: tuple[str, ...]
    """Of notes about the readings."""
    seen: Mapping[int, Mapping[str, int]]
    """By queryid, texts of clients, with their constants, and how often each was seen."""


def read_twice(
    session: Connection, seconds: float, version_num: int, progress: Callable[[float], None] | None
) -> Readings:
    """Reads, watches the sessions for `seconds`, and reads again.

    Raises TargetError where pg_stat_statements is missing, psycopg.Error where the server fails.
    """
    schema = _schema_of_statistics(session)
    before = _counters(session, schema)
    whole_before = _row(session, "database")
    began_s = time.monotonic()
    watch = _Sessions()
    while (left_s := began_s + seconds - time.monotonic()) > 0:
        rest_s = watch.look(session)
        if progress is not None:
            progress(time.monotonic() - began_s)
        time.sleep(min(left_s, rest_s))
    watch.look(session)
    after = _counters(session, schema)
    whole = _row(session, "database")
    lasted_s = time.monotonic() - began_s
    grown = {
        key: growth
        for key, counts in after.items()
        if (growth := counts.since(before.get(key))).calls > 0
    }
    codes: list[str] = []
    if whole[4] != whole_before[4] or any(
        key in after and after[key].calls < counts.calls for key, counts in before.items()
    ):
        codes.append("draw/statistics-reset")
    if watch.blind:
        codes.append("draw/sessions-hidden")
    called, hidden = _by_statement(session, schema, grown)
    totals = [max(0, now - then) for now, then in zip(whole[:4], whole_before[:4], strict=True)]
    # Our own looks committed, too.
    totals[0] = max(0, totals[0] - 2 * watch.looks - 1)
    found = SourceFigures(
        seconds=lasted_s,
        server_version_num=version_num,
        database=session.info.dbname,
        commits=totals[0],
        rollbacks=totals[1],
        blocks_found=totals[2],
        blocks_read=totals[3],
        active_sessions=None if watch.blind else watch.active,
        sessions=watch.most,
        waits={} if watch.blind else watch.waits,
    )
    protocol = _protocol(watch, grown.values())
    return Readings(called, hidden, found, protocol, tuple(codes), watch.texts)


@dataclass
class _Sessions:
    """What was seen of the sessions, look by look."""

    looks: int = 0
    most: int = 0
    blind: bool = False
    with_parameters: int = 0
    with_constants: int = 0
    texts: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    _at_work: Counter[str] = field(default_factory=Counter)

    def look(self, session: Connection) -> float:
        """Looks once; returns the seconds to rest."""
        began_s = time.monotonic()
        rows = session.execute(statement("drawing/sessions"), prepare=False).fetchall()
        for query_id, text in session.execute(
            statement("drawing/session_texts"), prepare=False
        ).fetchall():
            known = self.texts[query_id]
            if text in known or len(known) < _MOST_TEXTS:
                known[text] += 1
        self.looks += 1
        self.most = max(self.most, sum(row[1] for row in rows))
        for wait, _, active, parameters, constants, hidden in rows:
            self._at_work[wait] += active
            self.with_parameters += parameters
            self.with_constants += constants
            self.blind |= hidden
        return max(_EVERY_S, _RESTS * (time.monotonic() - began_s))

    @property
    def active(self) -> float:
        return sum(self._at_work.values()) / max(1, self.looks)

    @property
    def waits(self) -> dict[str, float]:
        return {name: n / max(1, self.looks) for name, n in self._at_work.items() if n}


def _schema_of_statistics(session: Connection) -> bytes:
    """The schema of pg_stat_statements as SQL takes it."""
    found = extensions_in(session).get(_EXTENSION)
    if found is None:
        raise TargetRefused("draw-without-statements", database=session.info.dbname)
    if not found.is_loaded:
        raise TargetRefused("draw-statements-not-loaded")
    return found.schema.encode()


def _asked(name: str, schema: bytes) -> bytes:
    return statement(f"drawing/{name}").replace(b"{extension}", schema)


def _counters(session: Connection, schema: bytes) -> dict[tuple[int | None, int], Counts]:
    rows = session.execute(_asked("statements", schema), prepare=False).fetchall()
    found: dict[tuple[int | None, int], Counts] = {}
    for query_id, role, *counts in rows:
        # Of several rows of one key, those hidden from this role, the sum.
        before = found.get((query_id, role), Counts(0, 0.0, 0, 0, 0, 0, 0, 0))
        found[query_id, role] = Counts(*(a + b for a, b in zip(before, counts, strict=True)))
    return found


def _row(session: Connection, name: str) -> tuple[Any, ...]:
    return session.execute(statement(f"drawing/{name}"), prepare=False).fetchall()[0]


def _by_statement(
    session: Connection, schema: bytes, grown: Mapping[tuple[int | None, int], Counts]
) -> tuple[tuple[Called, ...], Figures]:
    by_id: defaultdict[int | None, list[tuple[int, Counts]]] = defaultdict(list)
    for (query_id, role), counts in grown.items():
        by_id[query_id].append((role, counts))
    hidden = _figures(counts for _, counts in by_id.pop(None, []))
    wanted = ([*by_id],)
    texts: dict[int, str | None] = dict(
        session.execute(_asked("texts", schema), wanted, prepare=False).fetchall()
    )
    # Most calls first.
    ranked = sorted(by_id.items(), key=lambda item: -sum(counts.calls for _, counts in item[1]))
    alike: defaultdict[tuple[str, int | None, int], dict[int, list[Counts]]] = defaultdict(dict)
    for query_id, rows in ranked:
        if query_id is not None:
            text = texts.get(query_id) or ""
            role = max(rows, key=lambda row: row[1].calls)[0]
            unknown = None if text else query_id
            alike[text, unknown, role][query_id] = [counts for _, counts in rows]
    called = [
        Called(tuple(own), role, text, _figures(chain.from_iterable(own.values())))
        for (text, _, role), own in alike.items()
    ]
    return tuple(sorted(called, key=lambda one: -one.figures.time_ms)), hidden


def _figures(counts: Iterable[Counts]) -> Figures:
    sums = [sum(column) for column in zip(*counts, strict=True)] or [0] * len(Counts._fields)
    calls, time_ms, rows, found, read, dirtied, wal, _ = sums
    return Figures(int(calls), float(time_ms), *map(int, (rows, found, read, dirtied, wal)))


def _protocol(watch: _Sessions, grown: Iterable[Counts]) -> Protocol:
    """Constants in the texts of sessions are those of the simple protocol; fewer plans than calls
    are those of prepared statements, where the server counts plans."""
    if watch.with_constants > watch.with_parameters:
        return Protocol.SIMPLE
    counts = list(grown)
    plans, calls = sum(one.plans for one in counts), sum(one.calls for one in counts)
    return Protocol.PREPARED if 0 < plans < _PREPARED_SHARE * calls else Protocol.EXTENDED
