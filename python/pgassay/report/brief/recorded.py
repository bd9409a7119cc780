"""What an observation or a trace recorded, line by line.

Enters: the context. Leaves: part → its lines. Never: judges.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.reading.plain_text import one_line
from pgassay.findings.wording import latency, plain_number, spaced
from pgassay.language import Message, decimals, tr
from pgassay.report.brief.fitting import texts
from pgassay.report.brief.lines import number_line, number_lines, pair_line
from pgassay.report.brief.record import environment_lines, not_measured_lines, setting_lines
from pgassay.report.context import ObservationContext, TraceContext
from pgassay.report.data_tables.observed import COURSE_UNITS
from pgassay.report.summaries import observation as observation_summary
from pgassay.report.summaries import trace as trace_summary
from pgassay.report.summaries.trace import microseconds, point_name
from pgassay.report.tables.cells import moment

_MOST_STATEMENTS = 20
_MOST_CHECKPOINTS = 12
_WIDTH = 160
"""Of a statement's text."""
_SOURCES = {
    "log": Message("the server’s log"),
    "counters": Message("the server’s counters"),
    "both": Message("the server’s log and its counters"),
}


def observation_parts(context: ObservationContext) -> dict[str, list[str]]:
    """By name of `parts.toml`."""
    observed = context.observed
    return {
        "summary": [
            context.title,
            pair_line(observation_summary.facts(context)),
            number_line(tr("Averages"), observed.averages, COURSE_UNITS),
            *number_lines(tr("Largest"), observed.largest, COURSE_UNITS),
            *number_lines(tr("Events in the server's log"), observed.logged),
        ],
        "meaning": [texts()["meaning"]["recorded"].strip()],
        "caveats": [f"- {text}" for text in observation_summary.caveats(context)],
        "waits": [
            number_line(tr("By class"), observed.classes),
            number_line(tr("By event"), observed.events),
            *number_lines("pg_wait_sampling", observed.sampled_waits),
        ],
        "statements": list(_statements(context)),
        "checkpoints": list(_checkpoints(context)),
        "settings": setting_lines(context.environment),
        "environment": environment_lines(context.environment),
        "not_measured": not_measured_lines(context.environment),
    }


def trace_parts(context: TraceContext) -> dict[str, list[str]]:
    """By name of `parts.toml`."""
    traced = context.traced
    return {
        "summary": [context.title, pair_line(trace_summary.facts(context))],
        "meaning": [texts()["meaning"]["recorded"].strip().splitlines()[0]],
        "caveats": [f"- {text}" for text in trace_summary.caveats(context)],
        "points": [
            tr(
                "- {point}: {total} s in {times} times, {in_it} processes in it on average, "
                "mean {mean}, median {median}, p99 {p99} (median and p99 exact to a factor of "
                "two)",
                point=point_name(one.point, one.key),
                total=plain_number(one.total_s),
                times=spaced(one.count, 0),
                in_it=decimals(one.in_it, ".3g"),
                mean=microseconds(one.mean_us),
                median=microseconds(one.p50_us),
                p99=microseconds(one.p99_us),
            )
            for one in traced.points
        ],
        "checkpoints": [
            tr(
                "- {cause}: write {write}, sync {sync}",
                cause=one.cause or tr("cause not known"),
                write=_seconds(one.write_s),
                sync=_seconds(one.sync_s),
            )
            for one in traced.checkpoints
        ],
    }


def _checkpoints(context: ObservationContext) -> Iterator[str]:
    observed = context.observed
    yield tr(
        "{number}, known from {source}",
        number=len(observed.checkpoints),
        source=_SOURCES.get(observed.checkpoints_from, observed.checkpoints_from),
    )
    for one in observed.checkpoints[:_MOST_CHECKPOINTS]:
        buffers, write, sync = (one.get(name) for name in ("buffers", "write_s", "sync_s"))
        yield (
            tr(
                "- {time} UTC, {cause}: {buffers} buffers, write {write}, sync {sync}",
                time=moment(one["started_ns"])[:19],
                cause=one["cause"] or tr("cause not known"),
                buffers="?" if buffers is None else buffers,
                write=_seconds(write),
                sync=_seconds(sync),
            )
        )


def _statements(context: ObservationContext) -> Iterator[str]:
    ranked = sorted(context.observed.statements, key=lambda one: -one.exec_time_ms)
    for one in ranked[:_MOST_STATEMENTS]:
        text = one_line(context.texts.get(one.queryid, ""), _WIDTH) or f"queryid {one.queryid}"
        yield (
            tr(
                "- {total} s in {calls} calls, mean {mean}: {text}",
                total=spaced(one.exec_time_ms / 1000.0, 1),
                calls=spaced(one.calls, 0),
                mean=latency(one.mean_ms),
                text=text,
            )
        )


def _seconds(value: float | None) -> str:
    return tr("not known") if value is None else tr("{value} s", value=decimals(value, ".1f"))
