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
from pgassay.findings.wording import as_sentences, ends, texts_of, where
from pgassay.notes import Note, Term, Value

_RULES = texts_of(__name__)
_SHARED = texts_of("pgassay.findings.limits")
_LIMITS = _RULES["limits"]
_RULE = "findings/behaviour/checkpoint_causes"


def find(analysis: Analysis, facts: RunFacts) -> list[Finding]:
    """The images and write-back; WAL locks have a module of their own."""
    found = [_of_cause(analysis, facts, cause) for cause in ("images", "writeback")]
    return [one for one in found if one is not None]


def _of_cause(analysis: Analysis, facts: RunFacts, cause: str) -> Finding | None:
    proofs = proofs_of(analysis.behaviour.checkpoint_contrasts, _RULES["values"]["control"], cause)
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
    summary = _summary(analysis, arm.arm)
    values = _values(analysis, arm, cause)
    if proof is not None:
        without = _arms_with(analysis, proof.contrast.factor, proof.level)
        effects = [one for one in analysis.behaviour.checkpoint_effects if one.arm in without]
        values |= proven(proof, effects)
    setting, levels = _control(analysis, facts, summary, cause)
    next_ = next_spec(
        facts.spec_text,
        summary.levels,
        _RULES[cause]["question"],
        {"postgres": {setting: levels}},
    )
    asked: dict[str, Value] = {"setting": setting, "other": levels[0], "level": levels[-1]}
    figures = [*evidence_of(proofs), *_arm_evidence(analysis, arm, cause)]
    rule = f"{_RULE}/{cause}"
    return Finding(
        FindingKind.DIAGNOSIS,
        Note(f"{rule}.title"),
        as_sentences(
            Note(f"{rule}.{'text' if proof is None else 'confirmed'}", values),
            Note(f"{rule}.helps"),
        ),
        rule="checkpoint_causes",
        confidence=sure,
        factors=() if proof is None else (proof.contrast.factor,),
        evidence=tuple(figure for figure, speaks in figures if speaks),
        not_for_it=tuple(figure for figure, speaks in figures if not speaks),
        confirm=as_sentences(
            Note(f"{_RULE}/test.{'below' if next_ else 'by_hand'}", asked),
            Note(f"{rule}.confirm", asked),
            Note(f"{rule}.care") if setting == "full_page_writes" else None,
        ),
        refute=Note(f"{rule}.refute", asked),
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
    signs = [_sign(causes, name) for name in _RULES["values"]["signs"][cause]]
    seen = [one is not None and _holds(one) for one in signs]
    large = share.extra_s.value >= _LIMITS["least_share_pct"] / 100.0 * causes.whole.extra_s.value
    if not large or share.extra_s.value <= 0.0 or not seen[0]:
        return None
    enough = all(seen) if cause == "images" else any(seen[1:])
    return Confidence.SUPPORTED if enough and share.is_clear else Confidence.HYPOTHESIS


def _values(analysis: Analysis, causes: CheckpointCauses, cause: str) -> dict[str, Value]:
    wal = next((one for one in causes.signals if one.name == "wal_kb_per_tx"), None)
    flushes = [
        row.checkpoint.sync_s
        for row in analysis.behaviour.checkpoint_rows
        if row.arm == causes.arm and row.checkpoint.sync_s is not None
    ]
    return {
        "where": where(_summary(analysis, causes.arm), analysis.answer.arms),
        "before": "?" if wal is None else wal.before,
        "peak": "?" if wal is None else max(wal.known),
        "share": _share(_part(causes, cause), causes),
        "sync": sum(flushes) / len(flushes) if flushes else Term("an unknown number of"),
    }


def _share(part: TimeShare, causes: CheckpointCauses) -> Note:
    if part.share_pct is None or part.share_ci95_pct is None:
        pct = 100.0 * part.extra_s.value / max(causes.whole.extra_s.value, 1e-9)
        return Note.of(f"{_RULE}/share.about", value=min(pct, 100.0))
    # Noise may take a part beyond the whole.
    share, low, high = (min(x, 100.0) for x in (part.share_pct, *part.share_ci95_pct))
    return Note.of(f"{_RULE}/share.with_interval", share=share, low=low, high=high)


def _arm_evidence(
    analysis: Analysis, causes: CheckpointCauses, cause: str
) -> list[tuple[Evidence, bool]]:
    """Figures, each with whether it speaks for the cause."""
    summary = _summary(analysis, causes.arm)
    label = summary.label if summary.levels else ""
    time = _named("around", before=-causes.offset_s[0] + 0.5, after=causes.offset_s[-1] + 0.5)
    whole = causes.whole.extra_s
    low, high = ends(whole)
    found = [(_named("lost"), _named("seconds_ci", value=whole.value, low=low, high=high), True)]
    for one in sorted(causes.groups, key=lambda one: -one.extra_s.value)[:3]:
        seconds = one.extra_s.value
        if seconds > 0.0:
            metric = _named("group", group=Term(one.title))
            found.append((metric, _named("seconds", value=seconds), True))
    profiles = {one.name: one for one in causes.signals}
    if cause == "images" and (wal := profiles.get("wal_kb_per_tx")):
        figure = _named("rise_kb", before=wal.before, after=max(wal.known))
        found.append((_named("rise"), figure, True))
    if cause == "writeback" and (queue := profiles.get("disk_queue")):
        after = [
            value or 0.0
            for value, at in zip(queue.values, causes.offset_s, strict=True)
            if at > 0.0
        ]
        figure = _named("requests", before=queue.before, after=sum(after) / len(after))
        found.append((_named("disk_queue"), figure, True))
    for sign in (_sign(causes, name) for name in _RULES["values"]["signs"][cause]):
        if sign is not None:
            figure = _named("seen", seen=sign.seen, trials=sign.trials)
            found.append((_named("sign", text=sign.text), figure, _holds(sign)))
    return [(Evidence(metric, figure, label, time), holds) for metric, figure, holds in found]


def _named(name: str, **values: Value) -> Note:
    return Note(f"{_RULE}/evidence.{name}", values)


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
        return "checkpoint_completion_target", [f"{target:g}", "0.9"]
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
