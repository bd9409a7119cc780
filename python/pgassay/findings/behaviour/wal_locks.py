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

from pgassay.analysis.compare.accounting import Accounting, TimePart
from pgassay.analysis.model import Analysis, ArmSignals, ArmSummary, RunFacts
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.next_spec import next_spec
from pgassay.findings.wording import texts_of, where
from pgassay.language import decimals, tr
from pgassay.quantities import milliseconds, signed_milliseconds

_RULES = texts_of(__name__)
_SHARED = texts_of("pgassay.findings.limits")
_LIMITS, _EVENTS, _CONTROL, _TEXTS = (
    _RULES[name] for name in ("limits", "events", "control", "texts")
)

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
    """Of the arm with the largest share of its time in these locks."""
    limited = [
        one for arm in analysis.explanation.signals if (one := _waiting(analysis, arm)).is_limited
    ]
    if not limited:
        return []
    worst = max(limited, key=lambda one: float(one.share.mean()))
    arm = next(one for one in analysis.answer.arms if one.id == worst.signals.arm)
    proof = _proof(analysis, arm)
    place = f"{where(arm, analysis.answer.arms)},"
    values = {
        "where": place,
        "Where": place[0].upper() + place[1:],
        "share": decimals(100.0 * float(worst.share.mean()), ".0f"),
        "flush": decimals(float(worst.flush.mean()), ".2f"),
    }
    template = _TEXTS["text"]
    if proof is not None:
        account, part, whole = proof
        level_is_less = part.difference_ms < 0.0
        pair = (account.level, account.baseline)
        level, other = pair if level_is_less else pair[::-1]
        template = _TEXTS["confirmed"]
        values |= {
            "factor": account.factor,
            "level": level,
            "other": other,
            "wait": milliseconds(abs(part.difference_ms)),
            "whole": milliseconds(abs(whole.difference_ms)),
        }
    setting, levels = _next(analysis, facts, arm)
    next_ = next_spec(
        facts.spec_text, arm.levels, _TEXTS["question"], {"postgres": {setting: levels}}
    )
    test = _TEXTS["below" if next_ else "by_hand"].format(setting=setting, levels=levels)
    return [
        Finding(
            FindingKind.DIAGNOSIS,
            _TEXTS["title"],
            template.format(**values) + _TEXTS["helps"],
            rule="wal_locks",
            confidence=_confidence(worst, proof, analysis),
            evidence=(*_proof_evidence(proof), *_evidence(worst, arm)),
            confirm=test + _TEXTS["confirm"].format(setting=setting, level=levels[-1]),
            refute=_TEXTS["refute"],
            next_spec=next_,
        )
    ]


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
    names = {"level": f"{account.factor} = {account.level}", "other": account.baseline}
    found = []
    for name, part in zip(("evidence_wait", "evidence_whole"), parts, strict=True):
        low, high = map(signed_milliseconds, part.ci95_ms or (0.0, 0.0))
        size, blocks = signed_milliseconds(part.difference_ms), account.blocks
        figure = tr(
            "{size} (95 % CI {low} to {high}, {blocks} blocks)",
            size=size,
            low=low,
            high=high,
            blocks=blocks,
        )
        found.append(Evidence(_TEXTS[name].format(**names), figure))
    return found


def _evidence(one: _Waiting, arm: ArmSummary) -> list[Evidence]:
    low, high = (100.0 * float(end) for end in (one.share.min(), one.share.max()))
    found = [
        (
            _TEXTS["evidence_share"],
            tr(
                "{value} % ({low} to {high} % by trial)",
                value=decimals(100.0 * float(one.share.mean()), ".0f"),
                low=decimals(low, ".0f"),
                high=decimals(high, ".0f"),
            ),
        ),
        (
            _TEXTS["evidence_seen"].format(least=decimals(100.0 * _LIMITS["least_share"], ".0f")),
            tr("{seen} of {of}", seen=one.seen, of=len(one.share)),
        ),
    ]
    for event in (*_EVENTS["locks"], *_EVENTS["flush"]):
        sessions = float(_known(one.signals, event).mean())
        name = event.rstrip("*")
        found.append((_TEXTS["evidence_event"].format(event=name), decimals(sessions, ".2f")))
    label = arm.label if arm.levels else ""
    return [Evidence(metric, figure, label) for metric, figure in found]


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
