"""The top of a trace's report: facts and caveats, and names of points as all of it shows them.

Enters: what was traced. Leaves: (name, value) pairs, sentences, short texts. Never:
computes a figure.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pgassay.language import Message, clauses, decimals, listed, tr
from pgassay.quantities import clock, rate, signed_percent, spaced
from pgassay.report.context import TraceContext
from pgassay.report.document.text import texts_of
from pgassay.samples.forms.trace import WithAgainstWithout
from pgassay.trials.trace.programs import titles

sentence = texts_of(__name__)

_WAYS = {"usdt": Message("the server's static probes"), "uprobe": Message("the server's functions")}
_LITTLE = 0.05
"""A share of one processor from which the cost of the probes is a caveat; smaller ones are seldom
seen beside the noise of a host (docs/tracing.md, "What it costs")."""


def point_name(point: str, key: str) -> str:
    """Names a point with its key, such as `LWLock WALWrite`."""
    return f"{titles()[point]} {key}".strip()


def microseconds(value: float | None) -> str:
    """Writes a duration (µs) to three digits, in the unit that suits it; a dash for none."""
    if value is None:
        return "–"
    for limit, divisor, unit in ((1e3, 1.0, tr("µs")), (1e6, 1e3, tr("ms"))):
        if value < limit:
            return f"{_digits(value / divisor)} {unit}"
    return tr("{value} s", value=_digits(value / 1000000.0))


def _digits(value: float) -> str:
    return decimals(value, ".0f") if value >= 100 else decimals(value, ".3g")


def facts(context: TraceContext) -> tuple[tuple[str, str], ...]:
    """Gives (name, value) of when it was, how long, how much."""
    traced = context.traced
    start = datetime.fromtimestamp(traced.start_ns / 1e9, UTC)
    found = [
        (tr("Start"), tr("{value} UTC", value=f"{start:%Y-%m-%d %H:%M:%S}")),
        (tr("Duration"), clock(traced.seconds)),
    ]
    if traced.tps is not None:
        found.append((tr("Transactions per second"), rate(traced.tps)))
    found.append((tr("Checkpoints"), str(len(traced.checkpoints))))
    found.append((tr("Cost"), cost_text(context)))
    return tuple(found)


def cost_text(context: TraceContext) -> str:
    """Says what the probes cost: estimated from their hits, measured where that was asked for."""
    traced, cost = context.traced, context.described.cost
    text = sentence(
        "pairs_of_probes_per",
        value=spaced(traced.pairs_per_s, 0),
        cost_share=decimals(100 * traced.cost_share, ".2g"),
    )
    if cost is None:
        return text
    changes = clauses(
        f"{words} {_change(compared)}"
        for compared, words in (
            (cost.tps, tr("throughput")),
            (cost.cpu_per_tx_us, tr("CPU per transaction")),
        )
    )
    windows = tr(
        "{pairs} pairs of windows of {window_s} s",
        pairs=cost.pairs,
        window_s=decimals(cost.window_s, "g"),
    )
    return sentence("measured_with_the_probes", text=text, windows=windows, changes=changes)


def _change(compared: WithAgainstWithout) -> str:
    """Writes a ratio as a change, such as `+1.2 % (95 % CI +0.3 % to +2.1 %)`."""
    change_pct = 100 * (compared.ratio - 1)
    found = signed_percent(change_pct)
    if compared.low is None or compared.high is None:
        return tr("{found}, no interval", found=found)
    return tr(
        "{found} (95 % CI {low} to {high})",
        found=found,
        low=signed_percent(100 * (compared.low - 1), like=change_pct),
        high=signed_percent(100 * (compared.high - 1), like=change_pct),
    )


def ways(context: TraceContext) -> list[tuple[str, str]]:
    """Lists how points were traced, in words, each with its points."""
    found: dict[str, list[str]] = {}
    for point, way in context.described.ways.items():
        found.setdefault(_WAYS[way], []).append(titles().get(point, tr("checkpoint phases")))
    return [(words, listed(points)) for words, points in found.items()]


def caveats(context: TraceContext) -> list[str]:
    """Lists what is missing, lost or doubtful, one line each."""
    described, traced = context.described, context.traced
    found = [tr("not traced: {line}", line=line) for line in described.missing]
    if described.ended_by == "tracer":
        found.append(
            tr("bpftrace ended before its time: {complaint}", complaint=described.complaint)
        )
    if described.ended_by == "server":
        found.append(tr("the server was stopped or restarted, which ended the trace"))
    counts = dict.fromkeys(described.ways, 0)
    for point in traced.points:
        counts[point.point] += point.count
    for name, number in described.unmatched.items():
        whole = counts[name] + number
        found.append(
            sentence(
                "of_had_only_one",
                point=titles()[name],
                count=spaced(number, 0),
                of=spaced(whole, 0),
            )
        )
    if described.lost_events:
        found.append(sentence("messages_of_bpftrace_were", value=spaced(described.lost_events, 0)))
    found += [
        sentence("more_relations_than_there", point=titles()[point])
        for point in described.full_maps
    ]
    if traced.cost_share > _LITTLE:
        found.append(
            sentence(
                "the_probes_themselves_took", cost_share=decimals(100 * traced.cost_share, ".0f")
            )
        )
    return found
