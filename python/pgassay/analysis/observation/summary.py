"""The summary of an observation: values over time, averages, events; no verdict.

Enters: segments in order of time. Leaves: `ObservationSummary`. Never: compares or explains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pgassay.analysis.observation.model import ObservationSummary
from pgassay.analysis.observation.sums import ObservationSums
from pgassay.analysis.reading.binned import bin_edges
from pgassay.analysis.reading.own_statements import own_among
from pgassay.notes import Note
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.stored_parts import StoredSegment


def summarise_observation(
    segments: Sequence[StoredSegment],
    noted: Sequence[Note] = (),
    environment: EnvironmentFile | None = None,
    texts: Mapping[str, str] | None = None,
) -> ObservationSummary:
    """The summary; `noted` are notes of segments that were deleted, `texts` are those of
    statements by query id."""
    summaries = [segment.summary() for segment in segments]
    notes = [*noted, *(note for summary in summaries for note in summary.notes)]
    start_ns, end_ns = summaries[0].started_ns, summaries[-1].ended_ns
    edges = bin_edges(start_ns, end_ns)
    gathered = ObservationSums(edges, end_ns, own_among(texts or {}))
    for segment, summary in zip(segments, summaries, strict=True):
        gathered.add(segment, summary)
    gathered.close(end_ns)
    cost = _summed([summary.sampler_cost for summary in summaries])
    # Without the time between two recordings, in which nothing of a segment was counted.
    recorded_s = max(sum(one.ended_ns - one.started_ns for one in summaries) / 1e9, 1e-9)
    own = cost.get("transactions", 0.0) / recorded_s
    courses, averages, commits = gathered.courses(own)
    looked_ns = max(gathered.events_over_ns, 1.0)
    sources = {summary.checkpoints_from for summary in summaries}
    return ObservationSummary(
        start_ns=start_ns,
        end_ns=end_ns,
        edges_ns=tuple(edges.tolist()),
        courses=courses,
        sessions=gathered.sessions(),
        averages=averages,
        commits=commits,
        classes=gathered.classes(),
        events={event: busy / looked_ns for event, busy in gathered.events.most_common()},
        checkpoints=tuple(gathered.checkpoints),
        checkpoints_from=sources.pop() if len(sources) == 1 else "both",
        logged=gathered.logged,
        log_read=any(summary.log for summary in summaries),
        statements=gathered.statements.ranked(),
        gaps_ns=tuple(gathered.gaps),
        notes=tuple({note.without_figures: note for note in notes}.values()),
        cost=cost,
        clock=summaries[-1].clock,
        bytes_on_disk=sum(segment.bytes() for segment in segments),
        sampled_waits=gathered.sampled_waits.sessions(),
        largest={name: track.largest() for name, track in gathered.standby.levels.items()},
        unknown=gathered.standby.unknown(gathered.gaps),
        classic=gathered.classic.view(
            {name: grown / recorded_s for name, grown in gathered.statements.totals().items()},
            environment or EnvironmentFile(),
        ),
        infrastructure=gathered.classic.host(environment or EnvironmentFile()),
        host=gathered.host.whole(),
        host_windows=gathered.host.windows(),
    )


def _summed(costs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for cost in costs:
        total.update(cost)
    return {name: round(float(value), 3) for name, value in total.items()}
