"""The rules that a run shows signs of, as findings with evidence and a test.

Enters: an Analysis. Leaves: findings of kind DIAGNOSIS. Never: decides what is a sign (the rules'
files do), or says "confirmed" where nothing was varied at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgassay.analysis.model import Analysis, RunFacts, Verdict, Withdrawn
from pgassay.findings.diagnosis.judging import ArmContrast, Judgement, RuleInArm, SignInArm, judge
from pgassay.findings.diagnosis.quantities import facts_of
from pgassay.findings.diagnosis.rule_file import Sign, known_rules
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.next_spec import next_spec, varies_itself
from pgassay.findings.wording import texts_of
from pgassay.language import clauses, decimals, listed, tr
from pgassay.quantities import count, size

_RULES = texts_of(__name__)
_SHARED = texts_of("pgassay.findings.limits")
_TEXTS: Mapping[str, str] = _RULES["texts"]
_LIMITS = _RULES["limits"]


def find(analysis: Analysis, facts: RunFacts) -> list[Finding]:
    """One finding for each rule that is seen in some arm."""
    if not analysis.explanation.signals:
        return []
    labels = {arm.id: arm.label for arm in analysis.answer.arms}
    judged = judge(
        known_rules(), facts_of(analysis, facts), analysis.answer.rule, _compared(analysis)
    )
    return [_finding(one, labels, analysis, facts) for one in judged]


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


def _finding(
    judgement: Judgement, labels: Mapping[str, str], analysis: Analysis, facts: RunFacts
) -> Finding:
    rule, first = judgement.rule, judgement.arms[0]
    levels = {arm.id: arm.levels for arm in analysis.answer.arms}
    contrast = judgement.contrast
    evidence = [] if contrast is None else [_contrasted(contrast, labels)]
    not_for_it: list[Evidence] = []
    tests = not _is_tested(judgement, facts.spec_text)
    for arm in judgement.arms[: _LIMITS["most_arms"]]:
        label = labels[arm.facts.signals.arm] if len(labels) > 1 else ""
        for one in arm.signs:
            listed = evidence if one.holds else not_for_it
            listed.append(Evidence(tr(one.sign.title), _figure(one), label))
    return Finding(
        FindingKind.DIAGNOSIS,
        tr(rule.title),
        " ".join([tr(rule.claim).strip(), *_where(judgement, labels, levels)]),
        rule=f"{rule.name}/{rule.version}",
        confidence=judgement.confidence,
        evidence=tuple(evidence),
        not_for_it=tuple(not_for_it),
        confirm=tr(rule.confirm).strip() if tests else "",
        refute=tr(rule.refute).strip() if tests else "",
        next_spec=next_spec(
            facts.spec_text,
            levels.get(first.facts.signals.arm, {}),
            rule.next.question,
            rule.next.factors,
            hold=rule.next.settings,
            present=first.facts.settings,
        )
        if rule.next
        else "",
    )


def _where(
    judgement: Judgement, labels: Mapping[str, str], levels: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """In which arms, and how far the signs go."""
    said = []
    arms = [labels[one.facts.signals.arm] for one in judgement.arms]
    if len(labels) > 1:
        everywhere = len(arms) == len(labels)
        said.append(_TEXTS["everywhere" if everywhere else "seen"].format(arms=_listed(arms)))
    contrast = judgement.contrast
    if contrast is not None:
        own, other = (levels[arm] for arm in (contrast.arm, contrast.other))
        differ = [name for name, level in own.items() if level != other.get(name)]
        said.append(
            _TEXTS["confirmed"].format(
                factors=tr(" and ").join(differ),
                other=labels[contrast.other],
                quantity=_lower(tr(contrast.sign.title)),
                low=shown(contrast.other_mean, contrast.sign.unit),
                high=shown(contrast.mean, contrast.sign.unit),
            )
        )
    elif judgement.confidence is Confidence.HYPOTHESIS:
        said += _doubts(judgement.arms[0], judgement)
    return said


def _doubts(arm: RuleInArm, judgement: Judgement) -> list[str]:
    said = []
    required = [one for one in arm.signs if one.sign.role == "required" and not one.holds]
    helps = [one for one in arm.signs if one.sign.role == "supporting"]
    if sum(one.holds for one in helps) < judgement.rule.supporting:
        required += [one for one in helps if not one.holds]
    if required:
        missing = clauses(_lower(tr(one.sign.title)) for one in required)
        said.append(_TEXTS["partly"].format(missing=missing))
    trials = len(arm.facts.signals.trials)
    if trials < _SHARED["least_trials"]:
        said.append(_TEXTS["few"].format(trials=trials))
    return said


def _listed(arms: Sequence[str]) -> str:
    most = _LIMITS["most_arms"]
    if len(arms) <= most:
        return clauses(arms)
    return _TEXTS["and_more"].format(arms=clauses(arms[:most]), more=len(arms) - most)


def _figure(one: SignInArm) -> str:
    sign, known = one.sign, one.known
    if not known:
        return _TEXTS["unknown"]
    if sign.least is None and sign.most is None:
        return _TEXTS["holds" if one.holds else "fails"]
    if sign.setting:
        return _TEXTS["constant"].format(value=shown(known[0], sign.unit), limit=_limit(sign))
    texts = {
        "value": shown(sum(known) / len(known), sign.unit),
        "least": _bare(min(known), sign.unit),
        "most": _bare(max(known), sign.unit),
    }
    alike = texts["least"] == texts["most"]
    return _TEXTS["one_value" if alike else "figure"].format(
        **texts, limit=_limit(sign), reached=one.reached, trials=len(one.values)
    )


def _limit(sign: Sign) -> str:
    ends = [("≥", sign.least), ("≤", sign.most)]
    return listed(f"{way} {shown(end, sign.unit)}" for way, end in ends if end is not None)


def _contrasted(contrast: ArmContrast, labels: Mapping[str, str]) -> Evidence:
    unit, difference = contrast.sign.unit, contrast.difference
    figure = _TEXTS["contrast"].format(
        high=shown(contrast.mean, unit),
        low=shown(contrast.other_mean, unit),
        difference=shown(difference.value, unit),
        from_="?" if difference.low is None else _bare(difference.low, unit),
        to="?" if difference.high is None else shown(difference.high, unit),
        blocks=len(contrast.differences),
        p=decimals(contrast.p_corrected, ".2g"),
    )
    arms = _TEXTS["versus"].format(arm=labels[contrast.arm], other=labels[contrast.other])
    return Evidence(tr(contrast.sign.title), figure, arms)


def shown(value: float, unit: str) -> str:
    """A value with its unit, to the digits that a reader can use."""
    return size(value) if unit == "B" else f"{_bare(value, unit)} {unit}".rstrip()


def _bare(value: float, unit: str) -> str:
    """The same without its unit, where another value beside it has it; bytes keep theirs."""
    if unit == "B":
        return size(value)
    if unit == "%":
        value *= 100.0
    return decimals(value, ".2g").replace("-", "\u2212") if abs(value) < 10 else count(value)


def _lower(title: str) -> str:
    """As within a sentence, but for an abbreviation such as WAL."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]
