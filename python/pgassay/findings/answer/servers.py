"""Whether effects differ between the servers of a fleet, in one sentence each.

Enters: an Analysis. Leaves: findings. Never: decides anything.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import ByServer, Dependence, ServerEffect
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import percent
from pgassay.notes import Note, Value
from pgassay.plan.steps import at_load

RULE = "by_server"
_CODES = {
    Dependence.DEPENDS: "findings/answer/depends-on-server",
    Dependence.NEGLIGIBLE: "findings/answer/hardly-depends-on-server",
    Dependence.INDEPENDENT: "findings/answer/same-on-servers",
    Dependence.UNDECIDED: "findings/answer/undecided-by-server",
}


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Returns a finding for each verdict of a run on several servers."""
    title = Note("findings/answer/by-server")
    return [
        Finding(FindingKind.OBSERVATION, title, _claim(one, analysis), rule=RULE)
        for one in analysis.answer.by_server
    ]


def _claim(one: ByServer, analysis: Analysis) -> Note:
    values: dict[str, Value] = {
        "factor": one.factor,
        "level": one.level,
        "at": at_load(one.step, one.step_unit),
        "effects": tuple(map(_effect, one.servers)),
    }
    if one.test is None:
        return Note("findings/answer/untested-by-server", values)
    margin = 100.0 * analysis.answer.smallest_effect
    return Note(_CODES[one.verdict], {**values, "margin": margin, "p": one.test.p})


def _effect(one: ServerEffect) -> Note:
    return Note(
        "findings/answer/effect-on-server",
        {
            "effect": percent(one.effect_pct),
            "server": one.server,
            "blocks": Note.of("findings/blocks", n=one.blocks),
        },
    )
