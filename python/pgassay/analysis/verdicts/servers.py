"""What servers of a fleet do to a verdict: effects that differ between them, settings that do.

Enters: the effects by server, environment.json. Leaves: caveats.
Never: changes an estimate, or takes a difference between servers for one between arms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pgassay.analysis.compare.model import ByServer, Dependence
from pgassay.analysis.measures.model import Caveat
from pgassay.analysis.reading.metrics import METRICS
from pgassay.notes import Note, Term, Value
from pgassay.samples.forms.environment import EnvironmentFile

_MOST_SETTINGS = 5


def server_caveats(found: Sequence[ByServer]) -> Iterator[Caveat]:
    """One for each verdict whose effect depends on the server."""
    for one in found:
        if one.verdict is not Dependence.DEPENDS or one.test is None:
            continue
        effects = tuple(
            Note("analysis/verdicts/effect-on", {"effect": e.effect_pct, "server": e.server})
            for e in one.servers
            if e.effect_pct is not None
        )
        values: dict[str, Value] = {
            "metric": Term(METRICS[one.metric].title),
            "factor": one.factor,
            "level": one.level if one.step is None else f"{one.level}, {one.load}",
            "effects": effects,
            "p": one.test.p,
        }
        yield Caveat.of("servers", Note("analysis/verdicts/servers", values))


def unlike_server_caveats(environment: EnvironmentFile) -> Iterator[Caveat]:
    """Settings in which servers of one fleet differ although the experiment does not set them."""
    differing = environment.settings_that_differ
    if not environment.fleet or not differing:
        return
    named = [
        Note("analysis/verdicts/setting-by-server", {"name": name, "values": _on_servers(values)})
        for name, values in list(differing.items())[:_MOST_SETTINGS]
    ]
    if more := len(differing) - len(named):
        named.append(Note("analysis/verdicts/and-more", {"number": more}))
    found: dict[str, Value] = {"n": len(differing), "items": tuple(named)}
    yield Caveat.of("unlike-servers", Note("analysis/verdicts/unlike-servers", found))


def _on_servers(values: Mapping[str, Any]) -> tuple[Note, ...]:
    return tuple(
        Note("analysis/verdicts/value-on", {"value": str(value), "server": server})
        for server, value in values.items()
    )
