"""Each statement of a drawn workload in the run, beside the source.

Enters: drawing.json, the figures of a run, the fingerprint of a text. Leaves: a `Checked`.
Never: compares durations of single calls: a copy's machine may be another.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files

from pgassay.draw.check.finding import FoundDrawing
from pgassay.draw.check.model import Checked, CheckedPlan, CheckedStatement, Pair
from pgassay.draw.check.reading import RunFigures
from pgassay.draw.model import Figures, Source
from pgassay.draw.stored import DrawingFile, StoredStatement
from pgassay.notes import Note

_LIMITS = tomllib.loads((files(__package__) / "limits.toml").read_text("utf-8"))
_COLUMNS = {
    "rows": "rows",
    "blocks_found": "shared_blks_hit",
    "blocks_read": "shared_blks_read",
    "blocks_dirtied": "shared_blks_dirtied",
    "wal_bytes": "wal_bytes",
}
"""A figure of the source → its column in pg_stat_statements."""
_CUT = "…"
"""Ends a text of a run that was longer than what is kept of it."""
_NUMBERS = re.compile(r"\$\d+")
_NOTHING: Mapping[str, float] = {}
Fingerprint = Callable[[str], str | None]
"""Of a statement's text; None of one that cannot be read."""


@dataclass
class _Drawn:
    """One statement of the source, whatever scenarios have it."""

    first: StoredStatement
    scenarios: dict[str, None] = field(default_factory=dict)
    figures: list[Figures] = field(default_factory=list)

    def total(self, name: str) -> float | None:
        """The sum of a figure; None where the source does not say."""
        values = [getattr(one, name) for one in self.figures]
        return None if None in values else float(sum(values))


def compared(
    found: FoundDrawing,
    run: RunFigures,
    name: str,
    fingerprint: Fingerprint,
    source_plans: Mapping[str, str | None] | None = None,
) -> Checked:
    """Compares the baseline of a run, called `name`, with the source; `source_plans`: statement
    as the run sent it → fingerprint of its plan on the source, where plans were asked for."""
    drawn = _drawn(found.file)
    taken = _by_fingerprint(drawn, run, fingerprint)
    plans = _by_statement(run.plans, fingerprint)
    on_the_source = _by_statement(source_plans or {}, fingerprint)
    ordered = sorted(drawn, key=lambda one: -(drawn[one].total("time_ms") or 0.0))
    times = {one: drawn[one].total("time_ms") or 0.0 for one in ordered}
    lost = found.file.lost
    all_ms = sum(times.values()) + sum(one.time_ms for one in lost)
    totals = _Totals(
        sum(drawn[one].total("calls") or 0.0 for one in ordered),
        sum(times.values()),
        sum(taken.get(one, _NOTHING).get("calls", 0.0) for one in ordered),
        sum(taken.get(one, _NOTHING).get("exec_time_ms", 0.0) for one in ordered),
    )
    statements = []
    before = 0.0
    for one in ordered:
        matters = before < _LIMITS["time_share"] * all_ms or not all_ms
        before += times[one]
        checked = _statement(one, drawn[one], taken.get(one, _NOTHING), totals, matters=matters)
        if source_plans is not None:
            plan = CheckedPlan(on_the_source.get(one), plans.get(one))
            checked = replace(checked, plan=plan)
        statements.append(checked)
    wide = _LIMITS["statistics_times"] if found.file.source == Source.STATISTICS else 1.0
    figures = found.file.figures
    # Of calls where no time is known.
    all_calls = totals.calls + sum(one.calls for one in lost)
    covered = _share(totals.time, all_ms) or _share(totals.calls, all_calls) or 0.0
    return Checked(
        str(found.folder),
        name,
        run.arm,
        run.trials,
        tuple(replace(one, differs=tuple(_differences(one, wide))) for one in statements),
        1.0 - covered,
        Pair(_share(figures.commits, figures.seconds), run.commits),
        Pair(
            _ratio(figures.blocks_found, figures.blocks_read),
            _ratio(run.blocks_found, run.blocks_read),
        ),
        _sessions(figures.waits, run.sessions),
        tuple(_notes(found)),
    )


@dataclass(frozen=True)
class _Totals:
    """Of all drawn statements, on the source and in the run."""

    calls: float
    time: float
    run_calls: float
    run_time: float


def _drawn(file: DrawingFile) -> dict[str, _Drawn]:
    found: dict[str, _Drawn] = {}
    for scenario in file.scenarios:
        for statement in scenario.statements:
            one = found.setdefault(statement.fingerprint, _Drawn(statement))
            one.scenarios[scenario.name] = None
            one.figures.append(statement.figures)
    return found


def _by_fingerprint(
    drawn: Mapping[str, _Drawn], run: RunFigures, fingerprint: Fingerprint
) -> dict[str, dict[str, float]]:
    """What the run's statements took, by the fingerprint of their text, else by their query id,
    which a copy has from its source, or by the beginning of a text that was cut."""
    by_id = {
        str(one.first.query_id): name
        for name, one in drawn.items()
        if one.first.query_id is not None
    }
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for queryid, columns in run.grown.items():
        text = run.texts.get(queryid, "")
        known = fingerprint(text) if text else None
        name = known if known in drawn else by_id.get(queryid) or _begun(drawn, text)
        if name is not None:
            for column, value in columns.items():
                found[name][column] += value
    return found


def _begun(drawn: Mapping[str, _Drawn], text: str) -> str | None:
    """The only statement that begins as a cut text does, whatever the numbers of its parameters."""
    if not text.endswith(_CUT):
        return None
    # The last word may be cut, too.
    beginning = _NUMBERS.sub("$", text).rpartition(" ")[0]
    found = [
        name
        for name, one in drawn.items()
        if _NUMBERS.sub("$", one.first.source_text).startswith(beginning)
    ]
    return found[0] if len(found) == 1 else None


def _by_statement(
    plans: Mapping[str, str | None] | Mapping[str, str], fingerprint: Fingerprint
) -> dict[str, str | None]:
    """The plans by the fingerprint of their statement."""
    known = {fingerprint(text): plan for text, plan in plans.items()}
    return {name: plan for name, plan in known.items() if name is not None}


def _statement(
    name: str, drawn: _Drawn, taken: Mapping[str, float], totals: _Totals, *, matters: bool
) -> CheckedStatement:
    calls, run_calls = drawn.total("calls"), taken.get("calls", 0.0)

    def per_call(figure: str) -> Pair:
        run = taken.get(_COLUMNS[figure], 0.0) / run_calls if run_calls else None
        return Pair(_share(drawn.total(figure), calls), run)

    return CheckedStatement(
        name,
        drawn.first.source_text,
        tuple(drawn.scenarios),
        matters,
        Pair(_share(calls, totals.calls), _share(run_calls, totals.run_calls)),
        Pair(
            _share(drawn.total("time_ms"), totals.time),
            _share(taken.get("exec_time_ms", 0.0), totals.run_time),
        ),
        rows=per_call("rows"),
        found=per_call("blocks_found"),
        read=per_call("blocks_read"),
        dirtied=per_call("blocks_dirtied"),
        wal_bytes=per_call("wal_bytes"),
    )


def _differences(one: CheckedStatement, wide: float) -> Iterator[str]:
    if not one.calls_share.run:
        yield "missing"
        return
    points = 100.0 * abs(one.calls_share.run - (one.calls_share.source or 0.0))
    if points > wide * _LIMITS["calls_points"]:
        yield "calls"
    blocks = one.blocks
    if blocks.source is not None and blocks.run is not None:
        difference = abs(blocks.run - blocks.source)
        allowed = wide * _LIMITS["blocks_share"] * blocks.source
        if difference > max(allowed, _LIMITS["least_blocks"]):
            yield "blocks"
    plan = one.plan
    if plan is not None and None not in (plan.source, plan.run) and plan.source != plan.run:
        yield "plan"


def _notes(found: FoundDrawing) -> Iterable[Note]:
    if found.edited:
        yield Note("draw/scripts-edited", {"names": found.edited})
    if found.file.masked:
        yield Note("draw/masked")


def _sessions(source: Mapping[str, float], run: Mapping[str, float]) -> dict[str, Pair]:
    """By wait type, the most on either side first."""
    names = sorted({*source, *run}, key=lambda one: -max(source.get(one, 0.0), run.get(one, 0.0)))
    known = bool(source)
    return {one: Pair(source.get(one, 0.0) if known else None, run.get(one, 0.0)) for one in names}


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _ratio(found: float | None, read: float | None) -> float | None:
    if found is None or read is None or not found + read:
        return None
    return found / (found + read)
