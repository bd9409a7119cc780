"""Throughput around the start of a checkpoint, what a checkpoint costs, and what that goes into.

Enters: the context. Leaves: sentences, charts, tables. Never: computes an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pgassay.analysis.curves.checkpoints.model import TimeShare
from pgassay.analysis.curves.model import CheckpointEffect
from pgassay.analysis.statistics.values import Estimate
from pgassay.language import decimals, ntr, tr
from pgassay.quantities import count, milliseconds, plain_number, size
from pgassay.report.charts.checkpoints.signals import signals_chart
from pgassay.report.charts.checkpoints.throughput import checkpoints_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Block, Chart, Fold, Heading, note, observed
from pgassay.report.document.captions import arm_key, cut
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Table, column, view
from pgassay.report.document.text import joined, texts_of
from pgassay.report.tables.cells import ABSENT, between, inside, written

sentence = texts_of(__name__)

_MOST_LISTED = 100


@section("behaviour/checkpoints", "Around a checkpoint")
def checkpoints(context: ReportContext) -> Blocks:
    """Shows what checkpoints that began inside trials cost; yields nothing where none did, or
    the cost of none can be separated from that of the others."""
    effects = context.analysis.behaviour.checkpoint_effects
    if all(one.refused for one in effects):
        return
    lost = [one.lost_transactions for one in effects if one.lost_transactions]
    dips = sum(one.low is not None and one.low > 0.0 for one in lost)
    number, arms = sum(one.checkpoints for one in effects), len(context.plan.arms)
    yield summed_up("report/sections/dips", unusual=dips, n=number, dips=dips, arms=arms)
    yield from observed(context.sentences("checkpoints"))
    if chart := checkpoints_chart(context.analysis, arm_styles(context.plan.arms)):
        caption = sentence("mean_throughput_around_the")
        label = tr("Throughput around the start of a checkpoint")
        yield arm_key(context)
        yield Chart("checkpoints", chart, label, joined(caption, *cut(chart)))
    yield checkpoint_table(context)
    yield note(sentence("95_intervals_over_trials"))
    yield from _causes(context)
    yield _every_checkpoint(context)


def _causes(context: ReportContext) -> Iterator[Block]:
    causes = causes_table(context)
    if not causes:
        return
    yield Heading(tr("What the lost time goes into"))
    yield causes
    yield note(sentence("lost_time_what_sessions"))
    if chart := signals_chart(
        context.analysis.behaviour.checkpoint_causes, arm_styles(context.plan.arms)
    ):
        title = tr("Signals around the start of a checkpoint")
        yield Fold(title, [Chart("checkpoint_signals", chart, title, tr("Means of trials."))])


def checkpoint_table(context: ReportContext) -> Table:
    """Makes a table of what a checkpoint costs, a row for each arm that had one."""
    arm = written("arm", "Arm", context.labels.__getitem__, "heading")
    return view((arm, *_COSTS), context.analysis.behaviour.checkpoint_effects)


def _how_many(effect: CheckpointEffect) -> str:
    if effect.refused:
        return str(effect.refused)
    return ntr(
        "{checkpoints} in {n} trial",
        "{checkpoints} in {n} trials",
        effect.trials,
        checkpoints=effect.checkpoints,
    )


def causes_table(context: ReportContext) -> Table:
    """Makes a table of the time lost after a checkpoint, by cause and by wait class."""
    rows: list[Mapping[str, Any]] = []
    for one in context.analysis.behaviour.checkpoint_causes:
        name = tr(
            "{value}: time of sessions lost by each checkpoint", value=context.labels[one.arm]
        )
        for kind, parts in {"": [one.whole], "cause": one.causes, "waits": one.groups}.items():
            rows += [
                {**vars(part), "of": name, "kind": kind, "share": _share(part) if kind else ABSENT}
                for part in parts
                if not kind or _matters(part)
            ]
    return view(_CAUSES, rows)


def _matters(part: TimeShare) -> bool:
    """Whether a part of the lost time is a per cent of it or more."""
    return part.share_pct is not None and abs(part.share_pct) >= 1.0


def _every_checkpoint(context: ReportContext) -> Fold | None:
    """Folds a table of each checkpoint of each trial, up to a number that a reader can use."""
    found = context.analysis.behaviour.checkpoint_rows
    if not found:
        return None
    columns = (
        written("trial", "Trial"),
        written("arm", "Arm", context.labels.__getitem__, "text"),
        *inside("checkpoint", _CHECKPOINT),
        written("depth_pct", "Lowest", lambda value: f"{plain_number(value)} %"),
        written("lost_transactions", "Transactions lost", count),
        written("recovered_s", "Recovered after", _seconds),
    )
    not_listed = len(found[_MOST_LISTED:])
    what = note(
        sentence("a_description_not_a"),
        not_listed and tr("{not_listed} more are in analysis.json.", not_listed=not_listed),
    )
    return Fold(tr("Every checkpoint"), [view(columns, found[:_MOST_LISTED]), what])


def _share(part: TimeShare) -> str:
    if part.share_pct is None:
        return ABSENT
    if part.share_ci95_pct is None:
        return f"{_whole(part.share_pct)} %"
    low, high = part.share_ci95_pct
    return tr(
        "{value} % ({low} to {high})",
        value=_whole(part.share_pct),
        low=_whole(low),
        high=_whole(high),
    )


def _whole(value: float) -> str:
    return decimals(_tidy(value), ".0f").replace("-", "\u2212")


def _tidy(value: float, digits: int = 0) -> float:
    """Rounds a number, and makes a negative zero a zero."""
    return round(value, digits) + 0.0


def _seconds(value: float) -> str:
    return tr("{value} s", value=plain_number(value))


def _extra(lost: Estimate) -> str:
    seconds = plain_number(_tidy(lost.value, 1))
    return tr("{value} s{interval}", value=seconds, interval=between(lost))


def _with_unit(estimate: Estimate, unit: str) -> str:
    if not math.isfinite(estimate.value):
        return tr("not within the window")
    return f"{plain_number(estimate.value)} {unit}{between(estimate)}"


def _counted(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return count(estimate.value)
    return tr(
        "{value} ({low} to {high})",
        value=count(estimate.value),
        low=count(estimate.low),
        high=count(estimate.high),
    )


_CHECKPOINT = (
    written("started_s", "Began at", lambda s: tr("{value} s", value=decimals(s, ".1f"))),
    written("cause", "Cause", str),
    written("buffers", "Buffers", count),
    written("write_s", "Write", _seconds),
    written("sync_s", "Flush", _seconds),
    written("sync_longest_s", "Longest flush", _seconds),
    written("distance_kb", "Distance", lambda kb: size(1024.0 * kb)),
)
_COSTS = (
    column("checkpoints", "Checkpoints", _how_many, "text"),
    written("depth_pct", "Depth", lambda depth: _with_unit(depth, "%")),
    written("recovery_s", "Recovered after", lambda time: _with_unit(time, tr("s"))),
    written("duration_s", "Below half depth for", lambda time: _with_unit(time, tr("s"))),
    written("lost_transactions", "Transactions lost by each", _counted),
    written("full_page_images", "Full-page images after each", _counted),
)
_CAUSES = (
    written("of", "Arm", str, "group"),
    written("title", "Part", str, "heading"),
    written("kind", "Split by", str, "text"),
    written("before_ms", "Per transaction before", milliseconds),
    written("after_ms", "After", milliseconds),
    written("extra_s", "Lost by each checkpoint", _extra),
    written("share", "Share"),
)
