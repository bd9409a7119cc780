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
from pgassay.language import tr

_RULES = texts_of(__name__)
_TITLE: str = _RULES["title"]
_RULE: str = _RULES["rule"]
_TEXTS = _RULES["texts"]


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Sentences of each factor that has something to weigh."""
    return [
        Finding(FindingKind.OBSERVATION, _TITLE, text, rule=rule_of(one))
        for one in analysis.answer.trade_offs
        if one.matters
        for text in _sentences(one)
    ]


def rule_of(trade_off: TradeOff) -> str:
    """The rule's name in the findings of a factor."""
    return f"{_RULE}/{trade_off.factor}"


def _sentences(one: TradeOff) -> list[str]:
    differing = [each for each in one.criteria if len(each.best) < len(one.levels)]
    if not differing:
        return [_TEXTS["nothing"].format(factor=one.factor)]
    chosen: dict[tuple[tuple[str, ...], bool], list[Criterion]] = {}
    for each in differing:
        chosen.setdefault((each.best, each.in_order), []).append(each)
    found = [_choice(one, best, own) for (best, _), own in chosen.items()]
    found += [_beaten(one, level) for level in one.levels if _against(one, level)]
    if len(one.unbeaten) == len(one.levels) and not one.beaten:
        found.append(_TEXTS["unbeaten"])
    alike = [each for each in one.criteria if each not in differing]
    if alike:
        found.append(
            _TEXTS["alike"].format(criteria=_listed([each.noun for each in alike], tr(" or ")))
        )
    return found


def _choice(one: TradeOff, best: tuple[str, ...], criteria: Sequence[Criterion]) -> str:
    named, text = best, "choose" if len(best) == 1 else "choose_some"
    if not all(each.in_order for each in criteria):
        named, text = tuple(level for level in one.levels if level not in best), "avoid"
    sentence: str = _TEXTS[text].format(
        aims=_listed([each.aim for each in criteria], tr(" and ")),
        levels=f"{one.factor} = {_listed(named, tr(' or '))}",
    )
    return sentence


def _against(one: TradeOff, level: str) -> list[Beaten]:
    """What beats a level, that which does so for certain first."""
    own = [each for each in one.beaten if each.level == level]
    return sorted(own, key=lambda each: len(each.open_in))


def _beaten(one: TradeOff, level: str) -> str:
    by = _against(one, level)[0]
    nouns = {each.name: each.noun for each in one.criteria}
    unknown = _listed([nouns[name] for name in by.open_in], tr(" or "))
    if len(by.open_in) > _RULES["most_named"]:
        unknown = _TEXTS["several"].format(number=len(by.open_in))
    text: str = _TEXTS["no_advantage" if by.open_in else "beaten"].format(
        level=f"{one.factor} = {by.level}",
        other=by.by,
        worse=_listed([nouns[name] for name in by.worse_in], tr(" and ")),
        open=unknown,
    )
    return text


def _listed(words: Sequence[str], last: str) -> str:
    """Such as `a, b and c`; `last` stands before the last one."""
    *others, final = words or ("",)
    return f"{', '.join(map(str, others))}{last}{final}" if others else str(final)
