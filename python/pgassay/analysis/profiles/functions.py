"""Times per transaction by function.

Enters: stored profiles, the plan, the mean throughput of each arm's trials. Leaves: `Profiles`.
Never: compares a profile without transactions: there is nothing to divide by.

Of waits, only those of sessions count, and functions of the kernel are passed over.

A sample of CPU time is a Poisson count, so a function with n samples has a standard error of √n;
waits are weighted by their length and have none here.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.analysis.profiles.model import (
    ArmProfile,
    FunctionDifference,
    FunctionTime,
    PartTime,
    ProfileDifference,
    Profiles,
)
from pgassay.plan.model import Plan
from pgassay.samples.profiles import StoredProfiles
from pgassay.trials.profile.model import Profile

_NAMED = ("scenario ", "application ")
_CUT_OFF = "[stack cut off]"
_KERNEL = "_[k]"
_SESSIONS = ("client backend", "parallel worker")


@cache
def limits() -> Mapping[str, Any]:
    """Returns how many functions are listed, and from which difference on."""
    return tomllib.loads((files(__package__) / "functions.toml").read_text("utf-8"))


def profiles_of(
    stored: StoredProfiles, plan: Plan, tps: Mapping[str, float | None]
) -> Profiles | None:
    """Returns all that the profiles say; None where the run has none and asked for none."""
    if not stored.of_arm and not stored.notes:
        return None
    arms, differences = [], []
    for kind in ("cpu", "off-cpu"):
        counted = {
            arm.id: Counted.of(profile)
            for arm in plan.arms
            if (profile := stored.of_kind(arm.id, kind)) is not None and profile.transactions
        }
        arms += [_arm(one, arm, tps.get(arm)) for arm, one in counted.items()]
        baseline = plan.arms[0].id
        if baseline in counted:
            differences += [
                _difference(baseline, counted[baseline], arm, one)
                for arm, one in counted.items()
                if arm != baseline
            ]
    return Profiles(tuple(arms), tuple(differences), stored.notes)


@dataclass(frozen=True)
class Counted:
    """The weights of a profile by function."""

    profile: Profile
    own: Mapping[str, int]
    total: Mapping[str, int]
    parts: Mapping[tuple[str, str], int]
    us: float
    """Of one weight, per transaction."""

    @classmethod
    def of(cls, profile: Profile) -> Counted:
        """Counts the samples of one profile by function."""
        own: Counter[str] = Counter()
        total: Counter[str] = Counter()
        parts: Counter[tuple[str, str]] = Counter()
        for frames, weight in profile.each_stack():
            process, name, functions = _parted(frames)
            if profile.kind == "off-cpu":
                # Every wait ends in the scheduler, and a process without work is no cost of a
                # transaction.
                if process not in _SESSIONS:
                    continue
                functions = [name for name in functions if not name.endswith(_KERNEL)]
            parts[process, name] += weight
            if functions:
                own[functions[-1]] += weight
            for function in set(functions):  # one that calls itself has its time once
                total[function] += weight
        us = profile.unit_ns / 1e3 / (profile.transactions or math.inf)
        return cls(profile, own, total, parts, us)

    @property
    def us_per_tx(self) -> float:
        """Sums the time of all functions, in microseconds per transaction."""
        return sum(self.parts.values()) * self.us


def _parted(frames: list[str]) -> tuple[str, str, list[str]]:
    process, functions = frames[0], frames[1:]
    name = functions[0] if functions and functions[0].startswith(_NAMED) else ""
    functions = functions[1:] if name else functions
    if functions and functions[0] == _CUT_OFF:
        functions = functions[1:]
    return process, name, functions


def _arm(one: Counted, arm: str, measured: float | None) -> ArmProfile:
    profile = one.profile
    transactions, seconds = profile.transactions or 0.0, profile.seconds
    most = sorted(one.own, key=lambda name: (-one.own[name], name))[: limits()["shown"]]
    parts = sorted(one.parts.items(), key=lambda part: (-part[1], part[0]))
    return ArmProfile(
        arm=arm,
        kind=profile.kind,
        seconds=seconds,
        samples=profile.samples,
        transactions=transactions,
        tps=transactions / seconds,
        measured_tps=measured,
        us_per_tx=one.us_per_tx,
        perf_cpu_share=profile.perf_cpu_s / seconds,
        parts=tuple(PartTime(process, name, n * one.us) for (process, name), n in parts),
        functions=tuple(
            FunctionTime(name, one.own[name] * one.us, one.total[name] * one.us) for name in most
        ),
        notes=profile.notes,
    )


def _difference(baseline: str, before: Counted, arm: str, after: Counted) -> ProfileDifference:
    return ProfileDifference(
        baseline=baseline,
        arm=arm,
        kind=after.profile.kind,
        difference_us_per_tx=after.us_per_tx - before.us_per_tx,
        own=tuple(_differing(before, before.own, after, after.own)),
        total=tuple(
            _differing(before, _outside_kernel(before.total), after, _outside_kernel(after.total))
        ),
    )


def _outside_kernel(weights: Mapping[str, int]) -> dict[str, int]:
    """A call into the kernel passes through many of its functions; who calls it says more."""
    return {name: weight for name, weight in weights.items() if not name.endswith(_KERNEL)}


def _differing(
    before: Counted, old: Mapping[str, int], after: Counted, new: Mapping[str, int]
) -> Iterator[FunctionDifference]:
    each = []
    counts = after.profile.kind == "cpu"
    for name in {*old, *new}:
        n, m = old.get(name, 0), new.get(name, 0)
        error = math.hypot(math.sqrt(n) * before.us, math.sqrt(m) * after.us) if counts else 0.0
        was, is_now = n * before.us, m * after.us
        if abs(is_now - was) >= limits()["errors"] * error:
            each.append(FunctionDifference(name, was, is_now, is_now - was, error))
    each.sort(key=lambda one: (-abs(one.difference_us_per_tx), one.name))
    yield from each[: limits()["shown"]]
