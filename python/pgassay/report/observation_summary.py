"""The top of an observation's report: facts and caveats.

Enters: what was observed. Leaves: (name, value) pairs, sentences. Never: gives an unknown as zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.observation.model import ObservationSummary
from pgassay.findings.wording import size, spaced
from pgassay.report.context import ObservationContext
from pgassay.report.tables.cells import moment
from pgassay.spec.reading.units import clock

_UNKNOWN = {
    "no_receiver": "no WAL receiver ran (disconnected from its primary, or restoring an archive)",
    "hidden": "the primary's WAL position is hidden from this role; grant pg_monitor",
    "no_word": "the primary had not reported its WAL position yet; an idle one does every 30 s",
    "no_commit": "no commit had been replayed since the standby was started",
    "not_streamed": "its WAL was not streamed, but came from an archive or was already there",
}
"""Why it is not known how far a standby was behind."""


def _milliseconds(value: float) -> str:
    return f"{spaced(value, 0)} ms"


_BEHIND = {
    "replay_lag_ms": ("Replay behind the primary", _milliseconds),
    "receive_behind_bytes": ("WAL not received yet", size),
    "replay_behind_bytes": ("WAL not replayed yet", size),
}


def facts(context: ObservationContext) -> tuple[tuple[str, str], ...]:
    """(name, value): when, how long, the averages."""
    observed, averages = context.observed, context.observed.averages
    found = [
        ("Start", f"{moment(observed.start_ns)} UTC"),
        ("Duration", clock(observed.seconds)),
        ("Average active sessions", f"{observed.active_sessions:.2f}"),
    ]
    if "tps" in averages:
        found.insert(2, ("Commits per second", spaced(averages["tps"], 1)))
    shares = [
        f"{averages[name]:.0f} % {name}" for name in ("busy", "iowait", "steal") if name in averages
    ]
    if shares:
        found.append(("Host processors", ", ".join(shares)))
    if "wal" in averages:
        found.append(("WAL", f"{size(averages['wal'])}/s"))
    found.append(("Checkpoints", str(len(observed.checkpoints))))
    if context.environment.get("standby"):
        found.append(("Role", "standby: commits are those of its read transactions"))
        found += _behind(observed)
    return tuple(found)


def _behind(observed: ObservationSummary) -> Iterator[tuple[str, str]]:
    """How far a standby was behind its primary, and why parts of that are unknown."""
    average, largest = observed.averages, observed.largest
    for name, (words, form) in _BEHIND.items():
        unknown, texts = observed.unknown.get(name), []
        if name in average:
            texts.append(f"{form(average[name])}, at most {form(largest[name])}")
        if unknown is not None:
            part = f" for {spaced(unknown.seconds, 0)} s" if name in average else ""
            texts.append(f"unknown{part}: {_UNKNOWN[unknown.cause]}")
        if texts:
            yield words, "; ".join(texts)


def caveats(context: ObservationContext) -> list[str]:
    """What is missing or was sampled less often, one line each."""
    observed = context.observed
    found = list(observed.warnings)
    skipped, ticks = observed.cost.get("rested_ticks", 0.0), observed.cost.get("wait_ticks", 0.0)
    if skipped:
        found.append(
            f"the server was slow to answer: {spaced(skipped, 0)} samples were skipped to spare it;"
            f" {spaced(ticks, 0)} samples of its waits were taken"
        )
    if observed.gaps_ns:
        seconds = sum(end - start for start, end in observed.gaps_ns) / 1e9
        found.append(
            f"nothing was sampled for {spaced(seconds, 0)} s in all; averages leave them out"
        )
    dropped = context.described.get("dropped_segments", 0)
    if dropped:
        found.append(f"{dropped} older segments were deleted to stay within the disk space allowed")
    if context.described.get("ended_by") is None:
        found.append("the observation was killed: its last segment may be missing")
    return found
