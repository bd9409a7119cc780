"""Whether effects differ between the servers of a fleet, in one sentence each.

Enters: an Analysis. Leaves: findings. Never: decides anything.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import ByServer, Dependence
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import margin_percent, signed_percent, texts_of
from pgassay.language import decimals, listed, ntr, tr

RULE = "by_server"
_TEXTS = texts_of(__name__)
_SENTENCES = {
    Dependence.DEPENDS: "depends",
    Dependence.NEGLIGIBLE: "negligible",
    Dependence.INDEPENDENT: "independent",
    Dependence.UNDECIDED: "undecided",
}


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """One for each verdict of a run on several servers."""
    return [
        Finding(FindingKind.OBSERVATION, "by server", _sentence(one, analysis), rule=RULE)
        for one in analysis.answer.by_server
    ]


def _sentence(one: ByServer, analysis: Analysis) -> str:
    effects = listed(
        tr(
            "{effect} on {server} ({blocks})",
            effect=signed_percent(effect.effect_pct),
            server=effect.server,
            blocks=ntr("{n} block", "{n} blocks", effect.blocks),
        )
        for effect in one.servers
    )
    key = "untested" if one.test is None else _SENTENCES[one.verdict]
    text: str = _TEXTS[key].format(
        subject=f"{one.factor} = {one.level}"
        + ("" if one.step is None else tr(" at {load}", load=one.load)),
        effects=effects,
        margin=margin_percent(analysis.answer.smallest_effect),
        p="" if one.test is None else decimals(one.test.p, ".2g"),
    )
    return text
