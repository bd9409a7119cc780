"""Whether locks of the WAL limit a load.

Enters: an Analysis. Leaves: at most one finding of kind DIAGNOSIS.
Never: takes the wait for another session's flush for contention.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.model import Accounting, TimePart
from pgassay.analysis.model import Analysis, ArmSignals, ArmSummary, RunFacts
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.next_spec import next_spec
from pgassay.findings.wording import as_sentences, texts_of, where
from pgassay.notes import Note, Value

_RULES = texts_of(__name__)
_SHARED = texts_of("pgassay.findings.limits")
_LIMITS = _RULES["limits"]
_EVENTS, _CONTROL = (_RULES["values"][name] for name in ("events", "control"))
_RULE = "findings/behaviour/wal_locks"

Proof = tuple[Accounting, TimePart, TimePart]


@dataclass(frozen=True)
class _Waiting:
    """One arm, trial by trial."""

    signals: ArmSignals
    share: NDArray[np.float64]
    """Of the time of transactions, their client's part included."""
    flush: NDArray[np.float64]

    @property
    def seen(self) -> int:
        """In how many trials the share is large."""
        return int((self.share >= _LIMITS["least_share"]).sum())

    @property
    def is_limited(self) -> bool:
        """In nearly all trials, and not by the flush."""
        enough = self.seen >= _SHARED["nearly_all"] * len(self.share)
        return bool(enough and float(self.flush.mean()) < _LIMITS["flushing_sessions"])


def find(analysis: Analysis, facts: RunFacts) -> list[Finding]:
    """Return the finding of the arm that spends the largest share of its time in these locks."""
    limited = [
        one for arm in analysis.explanation.signals if (one := _waiting(analysis, arm)).is_limited
    ]
    if not limited:
        return []
    worst = max(limited, key=lambda one: float(one.share.mean()))
    arm = next(one for one in analysis.answer.arms if one.id == worst.signals.arm)
    proof = _proof(analysis, arm)
    setting, levels = _next(analysis, facts, arm)
    next_ = next_spec(
        facts.spec_text, arm.levels, _RULES["question"], {"postgres": {setting: levels}}
    )
    test = "below" if next_ else "by_hand"
    asked: dict[str, Value] = {"setting": setting, "level": levels[-1], "other": levels[0]}
    return [
        Finding(
            FindingKind.DIAGNOSIS,
            Note(f"{_RULE}/title"),
            as_sentences(_claim(worst, arm, analysis, proof), Note(f"{_RULE}/helps")),
            rule="wal_locks",
            confidence=_confidence(worst, proof, analysis),
            factors=() if proof is None else (proof[0].factor,),
            evidence=(*_proof_evidence(proof), *_evidence(worst, arm)),
            confirm=as_sentences(Note(f"{_RULE}/{test}", asked), Note(f"{_RULE}/confirm", asked)),
            refute=Note(f"{_RULE}/refute"),
            next_spec=next_,
        )
    ]


def _claim(one: _Waiting, arm: ArmSummary, analysis: Analysis, proof: Proof | None) -> Note:
    values: dict[str, Value] = {
        "where": where(arm, analysis.answer.arms),
        "share": 100.0 * float(one.share.mean()),
        "flush": float(one.flush.mean()),
    }
    if proof is None:
        return Note(f"{_RULE}/text", values)
    account, part, whole = proof
    pair = (account.level, account.baseline)
    level, other = pair if part.difference_ms < 0.0 else pair[::-1]
    return Note.of(
        f"{_RULE}/confirmed",
        factor=account.factor,
        level=level,
        other=other,
        wait=abs(part.difference_ms),
        whole=abs(whole.difference_ms),
        **values,
    )


def _waiting(analysis: Analysis, arm: ArmSignals) -> _Waiting:
    """Sessions in transactions are, by Little's law, transactions a second times their latency."""
    measured = {trial.number: trial.whole.values for trial in analysis.answer.trials}
    locks, flush = (
        sum(_known(arm, event) for event in _EVENTS[name]) for name in ("locks", "flush")
    )
    inside = [
        one.transactions / one.seconds * measured[one.number].get("latency_mean", math.nan) / 1e3
        if one.number in measured
        else math.nan
        for one in arm.trials
    ]
    # Without latencies nothing is known: a comparison with NaN is false.
    return _Waiting(arm, locks / np.array(inside), np.asarray(flush))


def _confidence(one: _Waiting, proof: Proof | None, analysis: Analysis) -> Confidence:
    if proof is not None:
        return Confidence.CONFIRMED
    # Where a control was varied it made no clear difference.
    varied = any(each.factor in _CONTROL["settings"] for each in analysis.answer.accounting)
    few = len(one.share) < _SHARED["least_trials"]
    return Confidence.HYPOTHESIS if varied or few else Confidence.SUPPORTED


def _known(arm: ArmSignals, event: str) -> NDArray[np.float64]:
    return np.array([value or 0.0 for value in arm.total("sessions", "", event)])


def _proof(analysis: Analysis, arm: ArmSummary) -> Proof | None:
    """A control factor with which WAL waits and transactions are clearly shorter."""
    for account in analysis.answer.accounting:
        if account.factor not in _CONTROL["settings"]:
            continue
        part = next((one for one in account.parts if one.name == _CONTROL["class"]), None)
        whole = account.whole
        if part is None or not part.is_clear or not whole.is_clear:
            continue
        worse = account.baseline if part.difference_ms < 0.0 else account.level
        same_way = (part.difference_ms < 0.0) == (whole.difference_ms < 0.0)
        if same_way and arm.levels.get(account.factor) == worse:
            return account, part, whole
    return None


def _proof_evidence(proof: Proof | None) -> list[Evidence]:
    if proof is None:
        return []
    account, *parts = proof
    found = []
    for name, part in zip(("wait", "whole"), parts, strict=True):
        low, high = part.ci95_ms or (0.0, 0.0)
        metric = Note.of(
            f"{_RULE}/evidence.{name}",
            level=f"{account.factor} = {account.level}",
            other=account.baseline,
        )
        figure = Note.of(
            f"{_RULE}/evidence.difference",
            size=part.difference_ms,
            low=low,
            high=high,
            blocks=account.blocks,
        )
        found.append(Evidence(metric, figure))
    return found


def _evidence(one: _Waiting, arm: ArmSummary) -> list[Evidence]:
    label = arm.label if arm.levels else ""
    pct = 100.0 * one.share
    value, low, high = (float(each) for each in (pct.mean(), pct.min(), pct.max()))
    return [
        Evidence(
            Note(f"{_RULE}/evidence.share"),
            Note.of(f"{_RULE}/evidence.by_trial", value=value, low=low, high=high),
            label,
        ),
        Evidence(
            Note.of(f"{_RULE}/evidence.seen", least=100.0 * _LIMITS["least_share"]),
            Note.of(f"{_RULE}/evidence.trials", seen=one.seen, of=len(pct)),
            label,
        ),
        *(
            Evidence(
                Note.of(f"{_RULE}/evidence.event", event=event.rstrip("*")),
                Note.of("findings/decimals", value=float(_known(one.signals, event).mean())),
                label,
            )
            for event in (*_EVENTS["locks"], *_EVENTS["flush"])
        ),
    ]


def _next(analysis: Analysis, facts: RunFacts, arm: ArmSummary) -> tuple[str, Sequence[str]]:
    varied = {name for other in analysis.answer.arms for name in other.levels}
    choices = [one for one in _CONTROL["next"] if one["setting"] not in varied]
    chosen = (choices or _CONTROL["next"])[0]
    setting = str(chosen["setting"])
    stored = facts.environment.server.value_of(setting) or "4MB"
    return setting, [str(level).format(now=_amount(stored)) for level in chosen["levels"]]


def _amount(stored: str) -> str:
    """A stored value such as `512 × 8kB` as a setting is written."""
    number, _, unit = stored.partition(" × ")
    if not unit:
        return stored
    size = int("".join(digit for digit in unit if digit.isdigit()) or "1")
    return f"{int(number) * size}{unit.lstrip('0123456789')}"
