"""The top of an observation's report: facts and caveats.

Enters: what was observed. Leaves: (name, value) pairs, sentences. Never: gives an unknown as zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.observation.model import ObservationSummary
from pgassay.language import Message, clauses, decimals, listed, tr
from pgassay.quantities import clock, size, spaced
from pgassay.report.context import ObservationContext
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import moment

sentence = texts_of(__name__)

_UNKNOWN = {
    "no_receiver": Message(
        "no WAL receiver ran (disconnected from its primary, or restoring an archive)"
    ),
    "hidden": Message("the primary's WAL position is hidden from this role; grant pg_monitor"),
    "no_word": Message(
        "the primary had not reported its WAL position yet; an idle one does every 30 s"
    ),
    "no_commit": Message("no commit had been replayed since the standby was started"),
    "not_streamed": Message(
        "its WAL was not streamed, but came from an archive or was already there"
    ),
}
"""Code → why it is not known how far a standby was behind."""


def _milliseconds(value: float) -> str:
    return tr("{value} ms", value=spaced(value, 0))


_BEHIND = {
    "replay_lag_ms": (Message("Replay behind the primary"), _milliseconds),
    "receive_behind_bytes": (Message("WAL not received yet"), size),
    "replay_behind_bytes": (Message("WAL not replayed yet"), size),
}


def facts(context: ObservationContext) -> tuple[tuple[str, str], ...]:
    """Gives (name, value) of when it was, how long, and the averages."""
    observed, averages = context.observed, context.observed.averages
    found = [
        (tr("Start"), tr("{value} UTC", value=moment(observed.start_ns))),
        (tr("Duration"), clock(observed.seconds)),
        (tr("Average active sessions"), decimals(observed.active_sessions, ".2f")),
    ]
    if "tps" in averages:
        found.insert(2, (tr("Commits per second"), spaced(averages["tps"], 1)))
    shares = [
        f"{decimals(averages[name], '.0f')} % {name}"
        for name in ("busy", "iowait", "steal")
        if name in averages
    ]
    if shares:
        found.append((tr("Host processors"), listed(shares)))
    if "wal" in averages:
        found.append((tr("WAL"), tr("{value}/s", value=size(averages["wal"]))))
    found.append((tr("Checkpoints"), str(len(observed.checkpoints))))
    if context.environment.standby:
        found.append((tr("Role"), tr("standby: commits are those of its read transactions")))
        found += _behind(observed)
    return tuple(found)


def _behind(observed: ObservationSummary) -> Iterator[tuple[str, str]]:
    """Yields how far a standby was behind its primary, and why parts of that are unknown."""
    average, largest = observed.averages, observed.largest
    for name, (words, form) in _BEHIND.items():
        unknown, texts = observed.unknown.get(name), []
        if name in average:
            texts.append(
                tr(
                    "{mean}, at most {largest}",
                    mean=form(average[name]),
                    largest=form(largest[name]),
                )
            )
        if unknown is not None:
            part = tr(" for {value} s", value=spaced(unknown.seconds, 0)) if name in average else ""
            texts.append(tr("unknown{part}: {cause}", part=part, cause=_UNKNOWN[unknown.cause]))
        if texts:
            yield words, clauses(texts)


def caveats(context: ObservationContext) -> list[str]:
    """Lists what is missing or was sampled less often, one line each."""
    observed = context.observed
    found = [str(note) for note in observed.notes]
    skipped, ticks = observed.cost.get("rested_ticks", 0.0), observed.cost.get("wait_ticks", 0.0)
    if skipped:
        found.append(
            sentence("the_server_was_slow", skipped=spaced(skipped, 0), taken=spaced(ticks, 0))
        )
    if observed.gaps_ns:
        seconds = sum(end - start for start, end in observed.gaps_ns) / 1e9
        found.append(sentence("nothing_was_sampled_for", value=spaced(seconds, 0)))
    dropped = context.described.dropped_segments
    if dropped:
        found.append(sentence("older_segments_were_deleted", dropped=dropped))
    if context.described.ended_by is None:
        found.append(tr("the observation was killed: its last segment may be missing"))
    return found
