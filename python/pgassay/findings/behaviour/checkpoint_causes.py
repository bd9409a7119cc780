"""The cause of the dip after checkpoints: full-page images, write-back, or WAL locks.

Enters: an Analysis. Leaves: at most one finding of kind DIAGNOSIS for each cause.
Never: calls a cause confirmed unless the run's own factor took it away.
"""

from __future__ import annotations

import math

from pgassay.analysis.curves.checkpoints.model import CheckpointCauses, Sign, TimeShare
from pgassay.analysis.model import Analysis, ArmSummary, RunFacts
from pgassay.findings.behaviour.checkpoint_proofs import evidence_of, proofs_of, proven
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.next_spec import is_scratch, next_spec
from pgassay.findings.wording import bounds, texts_of, where
from pgassay.language import decimals, tr
from pgassay.quantities import plain_number

_RULES = texts_of(__name__)
_SHARED = texts_of("pgassay.findings.limits")
_LIMITS = _RULES["limits"]
_WORDS = _RULES["evidence"]


def find(analysis: Analysis, facts: RunFacts) -> list[Finding]:
    """The images and write-back; WAL locks have a module of their own."""
    found = [_of_cause(analysis, facts, cause) for cause in ("images", "writeback")]
    return [one for one in found if one is not None]


def _of_cause(analysis: Analysis, facts: RunFacts, cause: str) -> Finding | None:
    proofs = proofs_of(analysis.behaviour.checkpoint_contrasts, _RULES["control"], cause)
    proof = next((one for one in proofs if one.clear), None)
    candidates = [one for one in analysis.behaviour.checkpoint_causes if _matters(analysis, one)]
    judged = [(one, _confidence(one, cause)) for one in candidates]
    with_signs = [(one, sure) for one, sure in judged if sure is not None]
    if proof is not None:
        has_it = _arms_with(analysis, proof.contrast.factor, proof.other)
        with_signs = [(one, sure) for one, sure in with_signs if one.arm in has_it]
    if not with_signs:
        return None
    arm, sure = max(
        with_signs, key=lambda pair: (pair[1] is Confidence.SUPPORTED, _lost_s(pair[0]))
    )
    if proof is not None:
        sure = Confidence.CONFIRMED
    elif proofs:  # it was varied, and made no clear difference
        sure = Confidence.HYPOTHESIS
    texts = _RULES[cause]
    values = _values(analysis, arm, cause)
    control = _control(analysis, facts, _summary(analysis, arm.arm), cause)
    template = texts["text"] if proof is None else texts["confirmed"]
    if proof is not None:
        without = _arms_with(analysis, proof.contrast.factor, proof.level)
        effects = [one for one in analysis.behaviour.checkpoint_effects if one.arm in without]
        values |= proven(proof, effects, _RULES["less"])
    asked = {"setting": control[0], "other": control[1][0], "level": control[1][-1]}
    next_ = next_spec(
        facts.spec_text,
        _summary(analysis, arm.arm).levels,
        texts["question"],
        {"postgres": {control[0]: control[1]}},
    )
    test = _RULES["test"]["below" if next_ else "by_hand"].format(**asked)
    figures = [*evidence_of(proofs, _WORDS), *_arm_evidence(analysis, arm, cause)]
    care = texts["care"] if asked["setting"] == "full_page_writes" else ""
    return Finding(
        FindingKind.DIAGNOSIS,
        texts["title"],
        template.format(**values) + texts["helps"],
        comparison=None,
        rule="checkpoint_causes",
        confidence=sure,
        evidence=tuple(figure for figure, speaks in figures if speaks),
        not_for_it=tuple(figure for figure, speaks in figures if not speaks),
        confirm=test + texts["confirm"].format(**asked, care=care),
        refute=texts["refute"].format(**asked),
        next_spec=next_,
    )


def _matters(analysis: Analysis, causes: CheckpointCauses) -> bool:
    """Whether the arm has a clear dip, or clearly loses transactions or time."""
    effect = next((e for e in analysis.behaviour.checkpoint_effects if e.arm == causes.arm), None)
    lost = None if effect is None else effect.lost_transactions
    return (
        (causes.whole.extra_s.low or 0.0) > 0.0
        or (lost is not None and (lost.low or 0.0) > 0.0)
        or (effect is not None and effect.recovery_s is not None)
    )


def _confidence(causes: CheckpointCauses, cause: str) -> Confidence | None:
    """What the signs of one arm amount to; None where too little of the time is this cause's."""
    share = _part(causes, cause)
    signs = [_sign(causes, name) for name in _RULES[cause]["signs"]]
    seen = [one is not None and _holds(one) for one in signs]
    large = share.extra_s.value >= _LIMITS["least_share_pct"] / 100.0 * causes.whole.extra_s.value
    if not large or share.extra_s.value <= 0.0 or not seen[0]:
        return None
    enough = all(seen) if cause == "images" else any(seen[1:])
    return Confidence.SUPPORTED if enough and share.is_clear else Confidence.HYPOTHESIS


def _values(analysis: Analysis, causes: CheckpointCauses, cause: str) -> dict[str, str]:
    wal = next((one for one in causes.signals if one.name == "wal_kb_per_tx"), None)
    share = _part(causes, cause)
    flushes = [
        row.checkpoint.sync_s
        for row in analysis.behaviour.checkpoint_rows
        if row.arm == causes.arm and row.checkpoint.sync_s is not None
    ]
    place = where(_summary(analysis, causes.arm), analysis.answer.arms)
    return {
        "Where": f"{place[0].upper()}{place[1:]},",
        "before": "?" if wal is None else plain_number(wal.before),
        "peak": "?" if wal is None else plain_number(max(wal.known)),
        "share": _share_text(share, causes),
        "sync": plain_number(sum(flushes) / len(flushes))
        if flushes
        else tr("an unknown number of"),
    }


def _share_text(part: TimeShare, causes: CheckpointCauses) -> str:
    if part.share_pct is None or part.share_ci95_pct is None:
        pct = 100.0 * part.extra_s.value / max(causes.whole.extra_s.value, 1e-9)
        return tr("about {value} %", value=decimals(min(pct, 100.0), ".0f"))
    # Noise may take a part beyond the whole.
    share, low, high = (min(x, 100.0) for x in (part.share_pct, *part.share_ci95_pct))
    return tr(
        "{share} % ({low} to {high} %)",
        share=decimals(share, ".0f"),
        low=decimals(low, ".0f"),
        high=decimals(high, ".0f"),
    )


def _arm_evidence(
    analysis: Analysis, causes: CheckpointCauses, cause: str
) -> list[tuple[Evidence, bool]]:
    """Figures, each with whether it speaks for the cause."""
    summary = _summary(analysis, causes.arm)
    label = summary.label if summary.levels else ""
    time = _WORDS["around"].format(
        before=plain_number(-causes.offset_s[0] + 0.5),
        after=plain_number(causes.offset_s[-1] + 0.5),
    )
    low, high = bounds(causes.whole.extra_s)
    found = [
        (
            _WORDS["lost"],
            tr(
                "{value} s (95 % CI {low} to {high} s)",
                value=plain_number(causes.whole.extra_s.value),
                low=low,
                high=high,
            ),
        )
    ]
    largest = sorted(causes.groups, key=lambda one: -one.extra_s.value)[:3]
    found += [
        (
            _WORDS["group"].format(group=one.title),
            tr("{value} s", value=plain_number(one.extra_s.value)),
        )
        for one in largest
        if one.extra_s.value > 0.0
    ]
    profiles = {one.name: one for one in causes.signals}
    if cause == "images" and "wal_kb_per_tx" in profiles:
        wal = profiles["wal_kb_per_tx"]
        found.append(
            (
                _WORDS["rise"],
                tr(
                    "{before} and {after} kB",
                    before=plain_number(wal.before),
                    after=plain_number(max(wal.known)),
                ),
            )
        )
    if cause == "writeback" and "disk_queue" in profiles:
        queue = profiles["disk_queue"]
        after = [
            value or 0.0
            for value, at in zip(queue.values, causes.offset_s, strict=True)
            if at > 0.0
        ]
        mean = plain_number(sum(after) / len(after))
        found.append(
            (
                _WORDS["disk_queue"],
                tr("{before} and {after}", before=plain_number(queue.before), after=mean),
            )
        )
    made = [(Evidence(metric, figure, label, time), True) for metric, figure in found]
    signs = [_sign(causes, name) for name in _RULES[cause]["signs"]]
    for one in signs:
        if one is not None:
            title = _WORDS["sign"].format(text=one.text)
            seen = _WORDS["seen"].format(seen=one.seen, trials=one.trials)
            made.append((Evidence(title, seen, label, time), _holds(one)))
    return made


def _control(
    analysis: Analysis, facts: RunFacts, arm: ArmSummary, cause: str
) -> tuple[str, list[str]]:
    """The setting to vary and its levels: one that this run has not varied, if there is one."""
    varied = {name for other in analysis.answer.arms for name in other.levels}

    def value(name: str, default: str) -> str:
        return arm.levels.get(name) or facts.environment.server.value_of(name) or default

    if cause == "images":
        scratch = is_scratch(facts.spec_text)
        if scratch and "full_page_writes" not in varied:
            return "full_page_writes", ["on", "off"]
        return "wal_compression", ["off", "pglz"]
    if value("checkpoint_flush_after", "256kB").startswith("0"):
        return "checkpoint_flush_after", ["0", "256kB"]
    target = float(value("checkpoint_completion_target", "0.9"))
    if target < 0.8:
        return "checkpoint_completion_target", [decimals(target, "g"), "0.9"]
    return "checkpoint_flush_after", ["256kB", "0"]


def _arms_with(analysis: Analysis, factor: str, level: str) -> set[str]:
    return {arm.id for arm in analysis.answer.arms if arm.levels.get(factor) == level}


def _summary(analysis: Analysis, arm: str) -> ArmSummary:
    return next(one for one in analysis.answer.arms if one.id == arm)


def _part(causes: CheckpointCauses, name: str) -> TimeShare:
    return next(one for one in causes.causes if one.name == name)


def _sign(causes: CheckpointCauses, name: str) -> Sign | None:
    return next((one for one in causes.signs if one.name == name), None)


def _holds(sign: Sign) -> bool:
    return bool(sign.seen >= _SHARED["nearly_all"] * sign.trials)


def _lost_s(causes: CheckpointCauses) -> float:
    value = causes.whole.extra_s.value
    return value if math.isfinite(value) else 0.0
