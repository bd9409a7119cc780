"""What an observation or a trace recorded, line by line.

Enters: the context. Leaves: part → its lines. Never: judges.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.reading.plain_text import one_line
from pgassay.findings.wording import latency, plain_number, spaced
from pgassay.report import observation_summary, trace_summary
from pgassay.report.brief.fitting import texts
from pgassay.report.brief.lines import number_line, number_lines, pair_line
from pgassay.report.brief.record import environment_lines, not_measured_lines, setting_lines
from pgassay.report.context import ObservationContext, TraceContext
from pgassay.report.data_tables.observed import COURSE_UNITS
from pgassay.report.tables.cells import moment
from pgassay.report.trace_summary import microseconds, point_name

_MOST_STATEMENTS = 20
_MOST_CHECKPOINTS = 12
_WIDTH = 160
"""Of a statement's text."""


def observation_parts(context: ObservationContext) -> dict[str, list[str]]:
    """By name of `parts.toml`."""
    observed = context.observed
    return {
        "summary": [
            context.title,
            pair_line(observation_summary.facts(context)),
            number_line("Averages", observed.averages, COURSE_UNITS),
            *number_lines("Largest", observed.largest, COURSE_UNITS),
            *number_lines("Events in the server's log", observed.logged),
        ],
        "meaning": [texts()["meaning"]["recorded"].strip()],
        "caveats": [f"- {text}" for text in observation_summary.caveats(context)],
        "waits": [
            number_line("By class", observed.classes),
            number_line("By event", observed.events),
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
            f"- {point_name(one.point, one.key)}: {plain_number(one.total_s)} s in"
            f" {spaced(one.count, 0)} times, {one.in_it:.3g} processes in it on average, mean"
            f" {microseconds(one.mean_us)}, median {microseconds(one.p50_us)}, p99"
            f" {microseconds(one.p99_us)} (median and p99 exact to a factor of two)"
            for one in traced.points
        ],
        "checkpoints": [
            f"- {one.cause or 'cause not known'}: write {_seconds(one.write_s)}, sync"
            f" {_seconds(one.sync_s)}"
            for one in traced.checkpoints
        ],
    }


def _checkpoints(context: ObservationContext) -> Iterator[str]:
    observed = context.observed
    yield f"{len(observed.checkpoints)}, known from {observed.checkpoints_from}"
    for one in observed.checkpoints[:_MOST_CHECKPOINTS]:
        buffers, write, sync = (one.get(name) for name in ("buffers", "write_s", "sync_s"))
        yield (
            f"- {moment(one['started_ns'])[:19]} UTC, {one['cause'] or 'cause not known'}:"
            f" {'?' if buffers is None else buffers} buffers, write {_seconds(write)}, sync"
            f" {_seconds(sync)}"
        )


def _statements(context: ObservationContext) -> Iterator[str]:
    ranked = sorted(context.observed.statements, key=lambda one: -one.exec_time_ms)
    for one in ranked[:_MOST_STATEMENTS]:
        text = one_line(context.texts.get(one.queryid, ""), _WIDTH) or f"queryid {one.queryid}"
        yield (
            f"- {spaced(one.exec_time_ms / 1e3, 1)} s in {spaced(one.calls, 0)} calls, mean"
            f" {latency(one.mean_ms)}: {text}"
        )


def _seconds(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1f} s"
