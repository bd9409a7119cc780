"""The caveats of a run, ranked by what they could change.

Enters: an Analysis. Leaves: a finding for each caveat, those that could change the verdict first.
Never: drops one: what cannot change the result is in the details.
"""

from __future__ import annotations

from pgassay.analysis.measures.model import Caveat
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.statistics import special
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import texts_of
from pgassay.notes import Importance, Note

_UNEQUAL_P: float = texts_of(__name__)["unequal_p"]


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Returns one finding per caveat, the most important first."""
    found = [_finding(one, analysis) for one in analysis.warnings]
    order = list(Importance)
    return sorted(found, key=lambda one: order.index(one.importance or Importance.SIZE))


def _finding(caveat: Caveat, analysis: Analysis) -> Finding:
    note, importance = caveat.note, caveat.importance
    title = Note.of("findings/caveat", kind=caveat.kind)
    if note.disturbs and (by_arm := _unequal(caveat, analysis)):
        note = Note("findings/answer/unequal", {"caveat": note, "by_arm": by_arm})
        importance = note.importance
    return Finding(FindingKind.WARNING, title, note, importance=importance)


def _unequal(caveat: Caveat, analysis: Analysis) -> tuple[Note, ...]:
    """How many trials of each arm were hit, where chance does not explain the difference.

    Each arm against all others by Fisher's exact test, with Bonferroni's correction over arms.
    """
    hit, every = set(caveat.trials), len(analysis.answer.trials)
    arms = {
        arm.label: [trial.number for trial in analysis.answer.trials if trial.arm == arm.id]
        for arm in analysis.answer.arms
    }
    counts = {label: len(hit.intersection(own)) for label, own in arms.items()}
    of = {label: len(own) for label, own in arms.items()}
    smallest = min(
        (_fisher(counts[label], of[label], len(hit), every) for label in arms), default=1.0
    )
    if len(arms) < 2 or smallest * len(arms) >= _UNEQUAL_P:
        return ()
    return tuple(
        Note(
            "findings/answer/trials-of-arm",
            {"count": counts[label], "of": of[label], "label": label},
        )
        for label in arms
    )


def _fisher(own_hit: int, own: int, hit: int, every: int) -> float:
    """The two-sided p of `own_hit` disturbed ones among `own` trials."""

    def chance(count: int) -> float:
        if count > own or hit - count > every - own or hit < count:
            return 0.0
        ways = special.binom(own, count) * special.binom(every - own, hit - count)
        return float(ways / special.binom(every, hit))

    seen = chance(own_hit)
    return sum(p for count in range(own + 1) if (p := chance(count)) <= seen * (1 + 1e-9))
