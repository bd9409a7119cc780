"""What differed between trials of the same arm.

Enters: the stored trials that count. Leaves: a caveat for each setting, version or size that
differs. Never: looks at results, or at differences between arms.

The guards (trials/guards/) watch for changes during a trial; this module compares trials.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pgassay.analysis.measures.model import Caveat
from pgassay.notes import Note, Term, Value
from pgassay.samples.forms.trial import Look, TrialFile
from pgassay.samples.stored_parts import StoredTrial

_MOST_CAVEATS = 5
_LARGEST_GROWTH = 0.05
"""Share by which a database may be larger in one trial than in another."""
_PATHS = re.compile(r"(_directory|_directories|_file)$")
"""Settings that are paths: an owned server lies elsewhere when a run is resumed."""


def drift_caveats(trials: Sequence[StoredTrial]) -> list[Caveat]:
    """One caveat per setting, kernel setting or version; a long list is cut."""
    first: dict[str, tuple[int, Mapping[str, str]]] = {}
    found: dict[str, Note] = {}
    summaries = [trial.summary() for trial in trials]
    for summary in summaries:
        constants = _constants(summary.fingerprint.before)
        number, known = first.setdefault(summary.arm, (summary.number, constants))
        for name in sorted(known.keys() & constants.keys()):
            if known[name] != constants[name]:
                values: dict[str, Value] = {
                    "name": name,
                    "before": known[name],
                    "number": number,
                    "after": constants[name],
                    "other": summary.number,
                }
                found.setdefault(name, Note("analysis/verdicts/drift", values))
    notes = list(found.values())[:_MOST_CAVEATS]
    if len(found) > _MOST_CAVEATS:
        more = len(found) - _MOST_CAVEATS
        notes.append(Note("analysis/verdicts/more-drift", {"number": more}))
    return [Caveat.of("drift", note) for note in (*notes, *_growth(summaries))]


def _growth(summaries: Sequence[TrialFile]) -> list[Note]:
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
    values: dict[str, Value] = {
        "small": small / 1e6,
        "early": early,
        "large": large / 1e6,
        "late": late,
    }
    return [Note("analysis/verdicts/growth", values)]


def _constants(before: Look | None) -> dict[str, str]:
    if before is None:
        return {}
    return {
        Term("the server's version"): before.version,
        **{name: v for name, v in before.settings.items() if not _PATHS.search(name)},
        **({} if before.host is None else before.host.knobs),
    }
