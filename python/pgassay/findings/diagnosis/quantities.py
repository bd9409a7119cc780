"""What a sign is in each trial of an arm.

Enters: a sign, an arm's signals, settings and scripts. Leaves: one value a trial, None where it was
not measured. Never: judges a value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.findings.diagnosis.rule_file import ObjectCondition, Sign
from pgassay.spec.reading.units import to_base

Key = tuple[str, str, str]
Value = float | None

_COME_AND_GO = frozenset(
    {"sessions", "scenario", "query", "process", "state", "locks", "blocking", "progress"}
)
"""Sources whose rows exist while there is something to count: a missing one is zero."""
_METRIC, _TRIAL = "metric", "trial"
"""Sources beside the sampled ones: a metric of the trial, and its length."""
_WORDS = {"on": 1.0, "off": 0.0}


@dataclass(frozen=True)
class ArmFacts:
    """Everything that signs of one arm are looked for in."""

    signals: ArmSignals
    settings: Mapping[str, str]
    scripts: Sequence[str] | None
    """None where they are not known, as are plans."""
    plans: Sequence[str] | None
    cores: int | None
    metrics: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    """By the number of the trial."""

    @cached_property
    def by_source(self) -> Mapping[str, Sequence[Key]]:
        found: dict[str, list[Key]] = defaultdict(list)
        for key in self.signals.keys:
            found[key[0]].append(key)
        return found


def facts_of(analysis: Analysis, run: RunFacts) -> list[ArmFacts]:
    """Returns what rules ask about, one entry per arm that has trials."""
    environment = run.environment
    server, cores = environment.server, environment.host.cpus
    common = {name: server.value_of(name) or "" for name in server.every_setting}
    metrics = {trial.number: trial.whole.values for trial in analysis.answer.trials}
    asked = {one.arm: one for one in run.asked}
    found = []
    for arm in analysis.explanation.signals:
        one = asked.get(arm.arm)
        found.append(
            ArmFacts(
                arm,
                common | dict(one.settings if one else {}),
                list(one.scripts.values()) if one and one.scripts else None,
                _plans_of(analysis, arm.arm),
                cores,
                metrics,
            )
        )
    return found


def values_of(sign: Sign, facts: ArmFacts) -> tuple[Value, ...]:
    """One value a trial; 1 or 0 for what holds or does not."""
    trials = facts.signals.trials
    if sign.setting:
        return (_setting(sign, facts),) * len(trials)
    if sign.script or sign.plan:
        texts = facts.plans if sign.plan else facts.scripts
        return (_matches(sign.script or sign.plan or "", texts),) * len(trials)
    keys = _matching(sign.signals, sign.without, facts)
    below = _matching(sign.per_signals, (), facts)
    found = []
    for trial in trials:
        value = _sum(sign, keys, trial, facts)
        divisor = _divisor(sign, below, trial, facts)
        found.append(None if value is None or not divisor else sign.times * value / divisor)
    return tuple(found)


def amount(text: str) -> Value:
    """A setting's value as a number: bytes, seconds, 1 for on; None for a word."""
    if text in _WORDS:
        return _WORDS[text]
    for unit, divisor in ((None, 1.0), ("B", 1.0), ("us", 1e6)):
        try:
            return float(to_base(text, unit, "real")) / divisor
        except ValueError:
            continue
    return None


def _sum(sign: Sign, keys: Iterable[Key], trial: TrialSignals, facts: ArmFacts) -> Value:
    values: dict[str, float] = defaultdict(float)
    for key in keys:
        value = _value(key, trial, facts)
        if value is not None and _counts(sign.where, key, trial):
            values[key[1]] += value
    if values:
        return max(values.values()) if sign.objects == "largest" else sum(values.values())
    sources = {signal.partition("/")[0] for signal in sign.signals}
    read = {key[0] for key in trial.values}
    is_zero = sources & read & _COME_AND_GO or (sign.where and sources & read)
    return 0.0 if is_zero else None


def _value(key: Key, trial: TrialSignals, facts: ArmFacts) -> Value:
    if key[0] == _TRIAL:
        return trial.seconds
    if key[0] == _METRIC:
        return facts.metrics.get(trial.number, {}).get(key[2])
    return trial.values.get(key)


def _counts(where: ObjectCondition | None, key: Key, trial: TrialSignals) -> bool:
    if where is None:
        return True
    other = trial.values.get((key[0], key[1], where.name))
    return other is not None and where.least <= other <= where.most


def _divisor(sign: Sign, below: Iterable[Key], trial: TrialSignals, facts: ArmFacts) -> Value:
    if sign.per_setting:
        return amount(facts.settings.get(sign.per_setting, ""))
    if sign.per_signals:
        known = [value for key in below if (value := _value(key, trial, facts)) is not None]
        return sum(known) if known else None
    match sign.per:
        case "transaction":
            return trial.transactions / trial.seconds
        case "core":
            return float(facts.cores) if facts.cores else None
        case "session":
            busy = (key for key in facts.by_source.get("sessions", ()) if not key[1])
            return sum(trial.values.get(key, 0.0) for key in busy)
        case _:
            return 1.0


def _matching(wanted: Sequence[str], without: Sequence[str], facts: ArmFacts) -> list[Key]:
    patterns = [_parts(one) for one in without]
    found: dict[Key, None] = {}
    for one in wanted:
        pattern = _parts(one)
        if pattern[0] in (_METRIC, _TRIAL):
            found[pattern] = None
        for key in facts.by_source.get(pattern[0], ()):
            if _fits(key, pattern) and not any(_fits(key, other) for other in patterns):
                found[key] = None
    return list(found)


def _parts(signal: str) -> Key:
    source, _, rest = signal.partition("/")
    thing, _, name = rest.rpartition("/")
    return source, thing, name


def _fits(key: Key, pattern: Key) -> bool:
    return (
        key[0] == pattern[0]
        and fnmatchcase(key[1], pattern[1])
        # PostgreSQL 17 respelt some wait events.
        and fnmatchcase(key[2].lower(), pattern[2].lower())
    )


def _setting(sign: Sign, facts: ArmFacts) -> Value:
    text = facts.settings.get(sign.setting or "")
    if text is None:
        return None
    return float(text in sign.one_of) if sign.one_of else amount(text)


def _matches(expression: str, texts: Iterable[str] | None) -> Value:
    if texts is None:
        return None
    pattern = re.compile(expression, re.IGNORECASE | re.DOTALL)
    return float(any(pattern.search(text) for text in texts))


def _plans_of(analysis: Analysis, arm: str) -> Sequence[str] | None:
    """The plans of an arm as text; None where the run stored none."""
    if not analysis.explanation.plans:
        return None
    plans = (plan for one in analysis.explanation.plans for plan in one.plans if arm in plan.trials)
    return ["\n".join(plan.text) for plan in plans]
