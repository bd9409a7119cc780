"""All rules that make findings, in the order a reader wants them.

Enters: an Analysis, the facts of its run. Leaves: findings. Never: estimates.

A rule is a module with a function `find(analysis, facts)`; its limits and sentences lie in the
TOML file beside it. A pattern of costs needs no code: it is an entry of answer/explanations.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pgassay.analysis.model import Analysis, RunFacts
from pgassay.findings.answer import (
    caveats,
    explanations,
    factors,
    servers,
    time_parts,
    trade_offs,
    verdicts,
)
from pgassay.findings.behaviour import (
    associations,
    checkpoint_causes,
    checkpoints,
    curves,
    modes,
    plans,
    wal_locks,
)
from pgassay.findings.diagnosis import recognised
from pgassay.findings.model import Confidence, Finding, FindingKind
from pgassay.findings.noise import aa_run
from pgassay.notes import Note

RULES: tuple[Callable[[Analysis, RunFacts], list[Finding]], ...] = (
    verdicts.find,
    factors.find,
    servers.find,
    aa_run.find,
    time_parts.find,
    explanations.find,
    trade_offs.find,
    curves.find,
    modes.find,
    checkpoints.find,
    checkpoint_causes.find,
    wal_locks.find,
    associations.find,
    plans.find,
    recognised.find,
    caveats.find,
)


def find(analysis: Analysis, facts: RunFacts) -> tuple[Finding, ...]:
    """Returns all findings of an analysis, diagnoses in the order of `_rank`."""
    found = _once([finding for rule in RULES for finding in rule(analysis, facts)])
    return tuple(time_parts.point_to_causes(sorted(found, key=_rank), analysis))


def _rank(one: Finding) -> tuple[int, bool]:
    """The surest diagnosis first; of equally sure ones those that name a mechanism of a factor."""
    if one.kind is not FindingKind.DIAGNOSIS:
        return 0, False
    return _SURENESS.index(one.confidence or Confidence.HYPOTHESIS), not one.factors


_SURENESS = tuple(Confidence)


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Without repeated claims: a pattern may hold against several levels."""
    known: set[tuple[Note, Note]] = set()
    kept = []
    for finding in findings:
        key = (finding.title, finding.claim)
        if finding.comparison is not None or key not in known:
            kept.append(finding)
        known.add(key)
    return kept
