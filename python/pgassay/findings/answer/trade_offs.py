"""Which level to choose for which purpose, and which levels another beats, in words.

Enters: an Analysis. Leaves: findings that the section answer/trade_offs shows.
Never: says which purpose matters, or weighs what was not measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.trade_offs.model import Beaten, Criterion, TradeOff
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import texts_of
from pgassay.notes import Note, Single, Term

_RULES = texts_of(__name__)
_RULE = "trade_offs"


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Sentences of each factor that has something to weigh."""
    return [
        Finding(
            FindingKind.OBSERVATION,
            Note("findings/answer/trade_offs/title"),
            text,
            rule=rule_of(one),
        )
        for one in analysis.answer.trade_offs
        if one.matters
        for text in _sentences(one)
    ]


def rule_of(trade_off: TradeOff) -> str:
    """The rule's name in the findings of a factor."""
    return f"{_RULE}/{trade_off.factor}"


def _sentences(one: TradeOff) -> list[Note]:
    differing = [each for each in one.criteria if len(each.best) < len(one.levels)]
    if not differing:
        return [Note.of("findings/answer/trade_offs/texts.nothing", factor=one.factor)]
    chosen: dict[tuple[tuple[str, ...], bool], list[Criterion]] = {}
    for each in differing:
        chosen.setdefault((each.best, each.in_order), []).append(each)
    found = [_choice(one, best, own) for (best, _), own in chosen.items()]
    found += [_beaten(one, level) for level in one.levels if _against(one, level)]
    if len(one.unbeaten) == len(one.levels) and not one.beaten:
        found.append(Note("findings/answer/trade_offs/texts.unbeaten"))
    alike = tuple(Term(each.noun) for each in one.criteria if each not in differing)
    if alike:
        found.append(Note.of("findings/answer/trade_offs/texts.alike", criteria=alike))
    return found


def _choice(one: TradeOff, best: tuple[str, ...], criteria: Sequence[Criterion]) -> Note:
    named, form = best, "choose" if len(best) == 1 else "choose_some"
    if not all(each.in_order for each in criteria):
        named, form = tuple(level for level in one.levels if level not in best), "avoid"
    return Note.of(
        f"findings/answer/trade_offs/texts.{form}",
        aims=tuple(Term(each.aim) for each in criteria),
        factor=one.factor,
        levels=named,
    )


def _against(one: TradeOff, level: str) -> list[Beaten]:
    """What beats a level, that which does so for certain first."""
    own = [each for each in one.beaten if each.level == level]
    return sorted(own, key=lambda each: len(each.open_in))


def _beaten(one: TradeOff, level: str) -> Note:
    by = _against(one, level)[0]
    nouns = {each.name: Term(each.noun) for each in one.criteria}
    unknown: tuple[Single, ...] = tuple(nouns[name] for name in by.open_in)
    if len(unknown) > _RULES["most_named"]:
        unknown = (Note.of("findings/answer/trade_offs/texts.several", number=len(unknown)),)
    return Note.of(
        f"findings/answer/trade_offs/texts.{'no_advantage' if unknown else 'beaten'}",
        level=f"{one.factor} = {by.level}",
        other=by.by,
        worse=tuple(nouns[name] for name in by.worse_in),
        open=unknown,
    )
