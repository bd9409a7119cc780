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
from pgassay.language import clauses, decimals, listed, ntr, tr
from pgassay.notes import Importance

_MOST_SETTINGS = 5


def server_caveats(found: Sequence[ByServer]) -> Iterator[Caveat]:
    """One for each verdict whose effect depends on the server."""
    for one in found:
        if one.verdict is not Dependence.DEPENDS or one.test is None:
            continue
        effects = listed(
            tr("{effect} % on {server}", effect=decimals(e.effect_pct, "+.1f"), server=e.server)
            for e in one.servers
            if e.effect_pct is not None
        )
        yield Caveat(
            "servers",
            tr(
                "{metric}, {factor} = {level}: the effect differs between servers ({effects};"
                " p = {p}); the verdict is about their mean, weighted by blocks",
                metric=METRICS[one.metric].title,
                factor=one.factor,
                level=one.level if one.step is None else f"{one.level}, {one.load}",
                effects=effects,
                p=decimals(one.test.p, ".2g"),
            ),
        )


def unlike_server_caveats(environment: Mapping[str, Any]) -> Iterator[Caveat]:
    """Settings in which servers of one fleet differ although the experiment does not set them."""
    differing = environment.get("settings_that_differ")
    if not environment.get("fleet") or not isinstance(differing, Mapping) or not differing:
        return
    named = [
        f"{name} ({listed(f'{value} on {server}' for server, value in values.items())})"
        for name, values in list(differing.items())[:_MOST_SETTINGS]
        if isinstance(values, Mapping)
    ]
    if more := len(differing) - len(named):
        named.append(tr("and {number} more", number=more))
    yield Caveat(
        "unlike-servers",
        ntr(
            "servers of the fleet differ in {n} setting: {items}; what servers add cancels within"
            " blocks, but the effect may depend on it",
            "servers of the fleet differ in {n} settings: {items}; what servers add cancels within"
            " blocks, but the effect may depend on it",
            len(differing),
            items=clauses(named),
        ),
        importance=Importance.DETAIL,
    )
