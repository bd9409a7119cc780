"""What differed between trials of the same arm.

Enters: the stored trials that count. Leaves: a caveat for each setting, version or size that
differs. Never: looks at results, or at differences between arms.

The guards (trials/guards/) watch for changes during a trial; this module compares trials.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pgassay.analysis.measures.model import Caveat
from pgassay.language import decimals, tr
from pgassay.samples.forms.trial import Look, TrialFile
from pgassay.samples.run_directory import StoredTrial

_MOST_CAVEATS = 5
_LARGEST_GROWTH = 0.05
"""Share by which a database may be larger in one trial than in another."""
_PATHS = re.compile(r"(_directory|_directories|_file)$")
"""Settings that are paths: an owned server lies elsewhere when a run is resumed."""


def drift_caveats(trials: Sequence[StoredTrial]) -> list[Caveat]:
    """One caveat per setting, kernel setting or version; a long list is cut."""
    first: dict[str, tuple[int, Mapping[str, str]]] = {}
    found: dict[str, str] = {}
    summaries = [trial.summary() for trial in trials]
    for summary in summaries:
        constants = _constants(summary.fingerprint.before)
        number, known = first.setdefault(summary.arm, (summary.number, constants))
        for name in sorted(known.keys() & constants.keys()):
            if known[name] != constants[name]:
                found.setdefault(
                    name,
                    f"{name} differed between trials of one arm: {known[name]} in trial {number},"
                    f" {constants[name]} in trial {summary.number}",
                )
    caveats = [Caveat("drift", text) for text in list(found.values())[:_MOST_CAVEATS]]
    if len(found) > _MOST_CAVEATS:
        caveats.append(
            Caveat(
                "drift", tr("{number} more settings differed", number=len(found) - _MOST_CAVEATS)
            )
        )
    return [*caveats, *_growth(summaries)]


def _growth(summaries: Sequence[TrialFile]) -> list[Caveat]:
    """The arm whose trials began with databases of the most different sizes."""
    sizes: dict[str, list[tuple[int, int]]] = {}
    for summary in summaries:
        before = summary.fingerprint.before
        if before is not None and before.database_bytes:
            sizes.setdefault(summary.arm, []).append((before.database_bytes, summary.number))
    spans = [(max(own)[0] / min(own)[0], min(own), max(own)) for own in sizes.values()]
    if not spans:
        return []
    ratio, (small, early), (large, late) = max(spans)
    if ratio <= 1.0 + _LARGEST_GROWTH:
        return []
    return [
        Caveat(
            "drift",
            tr(
                "trials of one arm began with different amounts of data: {small} MB in trial "
                "{early}, {large} MB in trial {late}; a reset level that restores the data "
                "prevents this",
                small=decimals(small / 1000000.0, ".0f"),
                early=early,
                large=decimals(large / 1000000.0, ".0f"),
                late=late,
            ),
        )
    ]


def _constants(before: Look | None) -> dict[str, str]:
    if before is None:
        return {}
    return {
        "the server's version": before.version,
        **{name: v for name, v in before.settings.items() if not _PATHS.search(name)},
        **({} if before.host is None else before.host.knobs),
    }
