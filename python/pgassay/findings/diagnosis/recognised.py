"""The rules that a run shows signs of, as findings with evidence and a test.

Enters: an Analysis. Leaves: findings of kind DIAGNOSIS. Never: decides what is a sign (the rules'
files do), or says "confirmed" where nothing was varied at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pgassay.analysis.model import Analysis, RunFacts, Verdict, Withdrawn
from pgassay.findings.diagnosis.judging import ArmContrast, Judgement, RuleInArm, SignInArm, judge
from pgassay.findings.diagnosis.quantities import facts_of
from pgassay.findings.diagnosis.rule_file import Rule, Sign, known_rules
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.next_spec import next_spec, varies_itself
from pgassay.findings.wording import as_sentences, texts_of
from pgassay.notes import Note, Term
from pgassay.quantities import rounded

_SHARED = texts_of("pgassay.findings.limits")
_LIMITS = texts_of(__name__)["limits"]
_RULE = "findings/diagnosis/recognised"
_FORM = {"trials": "", "windows": "-windows"}
_ALL = {"trials": Note("findings/all-trials"), "windows": Note("findings/all-windows")}


def find(analysis: Analysis, facts: RunFacts) -> list[Finding]:
    """Returns a finding for each rule that is seen in some arm."""
    if not analysis.explanation.signals:
        return []
    labels = {arm.id: arm.label for arm in analysis.answer.arms}
    judged = judge(
        known_rules(), facts_of(analysis, facts), analysis.answer.rule, _compared(analysis)
    )
    levels = {arm.id: arm.levels for arm in analysis.answer.arms}
    return [finding_of(one, labels, levels, facts.spec_text) for one in judged]


def _compared(analysis: Analysis) -> set[str]:
    """The arms that may be held against each other."""
    if any(one.verdict is Verdict.CALIBRATION for one in analysis.answer.comparisons):
        return set()
    lost = {
        (one.factor, one.level)
        for one in analysis.answer.comparisons
        if one.withdrawn not in (None, Withdrawn.SET_BY_LOAD)
    }
    return {arm.id for arm in analysis.answer.arms if not lost & set(arm.levels.items())}


def _is_tested(judgement: Judgement, spec_text: str) -> bool:
    """Whether this run is the test that its rule proposes; without a file for one, whether the
    signs came and went with what the run varied."""
    proposed = judgement.rule.next
    if proposed is None:
        return judgement.confidence is Confidence.CONFIRMED
    return varies_itself(spec_text, proposed.factors)


def finding_of(
    judgement: Judgement,
    labels: Mapping[str, str],
    levels: Mapping[str, Mapping[str, str]],
    spec_text: str,
    of: Literal["trials", "windows"] = "trials",
) -> Finding:
    """A judgement in words; `labels` and `levels` are of each arm, values of each of `of`."""
    rule, first, contrast = judgement.rule, judgement.arms[0], judgement.contrast
    evidence = [] if contrast is None else [_contrasted(contrast, labels, rule)]
    not_for_it: list[Evidence] = []
    tests = not _is_tested(judgement, spec_text)
    for arm in judgement.arms[: _LIMITS["most_arms"]]:
        label = labels[arm.facts.signals.arm] if len(labels) > 1 else ""
        for one in arm.signs:
            found = Evidence(_text(rule, "sign", one.sign.title), _figure(one, of), label, _ALL[of])
            (evidence if one.holds else not_for_it).append(found)
    return Finding(
        FindingKind.DIAGNOSIS,
        _text(rule, "title", rule.title),
        as_sentences(_text(rule, "claim", rule.claim), *_where(judgement, labels, levels, of)),
        rule=_name(rule),
        confidence=judgement.confidence,
        factors=() if contrast is None else _factors(contrast, levels),
        evidence=tuple(evidence),
        not_for_it=tuple(not_for_it),
        confirm=_text(rule, "confirm", rule.confirm) if tests else None,
        refute=_text(rule, "refute", rule.refute) if tests else None,
        next_spec=next_spec(
            spec_text,
            levels.get(first.facts.signals.arm, {}),
            rule.next.question,
            rule.next.factors,
            hold=rule.next.settings,
            present=first.facts.settings,
        )
        if rule.next and spec_text
        else "",
    )


def _name(rule: Rule) -> str:
    return f"{rule.name}/{rule.version}"


def _text(rule: Rule, part: str, text: str) -> Note:
    """What the rule's file says; that of a shipped rule has translations."""
    return Note.of("findings/rule", rule=_name(rule), part=part, text=Term(text.strip()))


def _where(
    judgement: Judgement,
    labels: Mapping[str, str],
    levels: Mapping[str, Mapping[str, str]],
    of: str,
) -> list[Note]:
    """In which arms, and how far the signs go."""
    said = []
    arms = tuple(labels[one.facts.signals.arm] for one in judgement.arms)
    if len(labels) > 1:
        form = "everywhere" if len(arms) == len(labels) else "seen"
        said.append(Note.of(f"{_RULE}/texts.{form}", arms=_listed(arms)))
    contrast = judgement.contrast
    if contrast is not None:
        unit = contrast.sign.unit
        said.append(
            Note.of(
                f"{_RULE}/texts.confirmed",
                factors=_factors(contrast, levels),
                other=labels[contrast.other],
                quantity=Term(contrast.sign.title),
                low=amount_of(contrast.other_mean, unit),
                high=amount_of(contrast.mean, unit),
            )
        )
    elif judgement.confidence is Confidence.HYPOTHESIS:
        said += _doubts(judgement.arms[0], judgement, of)
    return said


def _doubts(arm: RuleInArm, judgement: Judgement, of: str) -> Iterator[Note]:
    required = [one for one in arm.signs if one.sign.role == "required" and not one.holds]
    helps = [one for one in arm.signs if one.sign.role == "supporting"]
    if sum(one.holds for one in helps) < judgement.rule.supporting:
        required += [one for one in helps if not one.holds]
    if required:
        missing = tuple(Note.of("findings/within", term=Term(one.sign.title)) for one in required)
        yield Note.of(f"{_RULE}/texts.partly", missing=missing)
    trials = len(arm.facts.signals.trials)
    if trials < _SHARED["least_trials"]:
        yield Note.of(f"{_RULE}/texts.few{_FORM[of]}", trials=trials)


def _factors(contrast: ArmContrast, levels: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """In which the two arms differ."""
    own, other = (levels[arm] for arm in (contrast.arm, contrast.other))
    return tuple(name for name, level in own.items() if level != other.get(name))


def _listed(arms: tuple[str, ...]) -> Note:
    most = _LIMITS["most_arms"]
    if len(arms) <= most:
        return Note.of("findings/clauses", items=arms)
    return Note.of(f"{_RULE}/texts.and_more", arms=arms[:most], more=len(arms) - most)


def _figure(one: SignInArm, of: str) -> Note:
    sign, known = one.sign, one.known
    if not known:
        return Note(f"{_RULE}/texts.unknown")
    if sign.least is None and sign.most is None:
        return Note(f"{_RULE}/texts.{'holds' if one.holds else 'fails'}")
    if sign.setting:
        value = amount_of(known[0], sign.unit)
        return Note.of(f"{_RULE}/texts.constant", value=value, limit=_limit(sign))
    alike = rounded(min(known)) == rounded(max(known))
    return Note.of(
        f"{_RULE}/texts.{'one_value' if alike else 'figure'}{_FORM[of]}",
        value=amount_of(sum(known) / len(known), sign.unit),
        least=amount_of(min(known), sign.unit, bare=True),
        most=amount_of(max(known), sign.unit, bare=True),
        limit=_limit(sign),
        reached=one.reached,
        trials=len(one.values),
    )


def _limit(sign: Sign) -> tuple[Note, ...]:
    ends = (("findings/at-least", sign.least), ("findings/at-most", sign.most))
    return tuple(
        Note.of(code, value=amount_of(end, sign.unit)) for code, end in ends if end is not None
    )


def _contrasted(contrast: ArmContrast, labels: Mapping[str, str], rule: Rule) -> Evidence:
    unit, difference = contrast.sign.unit, contrast.difference
    low, high = difference.low, difference.high
    figure = Note.of(
        f"{_RULE}/texts.contrast",
        high=amount_of(contrast.mean, unit),
        low=amount_of(contrast.other_mean, unit),
        difference=amount_of(difference.value, unit),
        from_="?" if low is None else amount_of(low, unit, bare=True),
        to="?" if high is None else amount_of(high, unit),
        blocks=len(contrast.differences),
        p=contrast.p_corrected,
    )
    arm, other = labels[contrast.arm], labels[contrast.other]
    return Evidence(
        _text(rule, "sign", contrast.sign.title),
        figure,
        Note.of("findings/versus", arm=arm, other=other),
    )


def amount_of(value: float, unit: str, *, bare: bool = False) -> Note:
    """A value with its unit; `bare` leaves out a unit that another value beside it has, but that of
    bytes."""
    if unit == "B":
        return Note.of("findings/bytes", value=value)
    value = 100.0 * value if unit == "%" else value
    if bare or not unit:
        return Note.of("findings/rounded", value=value)
    return Note.of("findings/rounded-with-unit", value=value, unit=Term(unit))
