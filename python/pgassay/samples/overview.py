"""What a folder of runs holds, from their JSON files alone.

Enters: a folder. Leaves: one `RunOverview` for each run or observation in it, oldest first.
Never: reads samples, analyses anything, or parses all of an analysis.json that begins with its
summary; imports what reading Parquet needs.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pgassay.samples.layout import ANALYSIS, ENVIRONMENT, JOURNAL, OBSERVATION, PLAN, TRIALS
from pgassay.samples.storage.journal_lines import open_entries
from pgassay.samples.storage.json_head import first_values_of, object_in, values_of

SUMMARY = "summary"
_SAME = ("metric", "factor", "baseline", "level", "step")
"""The keys that name a comparison."""
_PLACE = ("factor", "level", "step")
"""Those that say which of the comparisons of the primary metric is undecided."""
HEAD_KEYS = {PLAN: "question", OBSERVATION: "server", ENVIRONMENT: "created_at", ANALYSIS: SUMMARY}
"""File → the key of it that is read here, which stands near its beginning."""


class State(StrEnum):
    """How far a run has come."""

    FINISHED = "finished"
    RUNNING = "running"
    UNFINISHED = "unfinished"
    CHANGES_LEFT = "changes left"
    """It was killed, and what it changed on its server is not put back yet."""
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class RunOverview:
    """One run or observation in a few words."""

    path: Path
    state: State
    started: datetime | None = None
    question: str = ""
    trials: int = 0
    verdict: str | None = None
    """The first verdict; None where there is none yet. For an observation, `observation`."""
    badge: str | None = None
    """The same in a few words, with what qualifies it."""
    effect_pct: float | None = None
    """The effect that the first verdict is about."""
    reason: str | None = None
    """The code of why the first verdict is undecided."""
    verdicts: tuple[str, ...] = ()
    """All of them, the first among them."""

    @property
    def more_verdicts(self) -> int:
        """Returns how many verdicts the run has beside the first."""
        return max(len(self.verdicts) - 1, 0)


def runs_in(folder: Path) -> list[RunOverview]:
    """Lists the runs and observations directly in a folder, oldest first."""
    runs = []
    for path in folder.iterdir():
        with suppress(OSError):  # no directory, or one of somebody else
            contents = _contents_of(path)
            if not contents.names.isdisjoint((PLAN, OBSERVATION)):
                runs.append(_overview_of(path, contents))
    never = datetime.min.replace(tzinfo=UTC)
    return sorted(runs, key=lambda run: (run.started or never, run.path))


def overview_of(path: Path) -> RunOverview:
    """Describes one run; a damaged run must not hide the others, so nothing is raised."""
    try:
        return _overview_of(path, _contents_of(path))
    except OSError:
        return RunOverview(path, State.UNREADABLE)


@dataclass(frozen=True)
class _Contents:
    """What a look at a directory shows: no file of it is opened to learn that it is not there."""

    names: frozenset[str]
    is_running: bool
    """Whether a process holds the directory's lock."""


def _contents_of(path: Path) -> _Contents:
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with os.scandir(directory) as entries:
            names = frozenset(entry.name for entry in entries)
        try:
            fcntl.flock(directory, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _Contents(names, is_running=True)
        except OSError:  # a file system without locks
            pass
        return _Contents(names, is_running=False)
    finally:
        os.close(directory)


def _overview_of(path: Path, contents: _Contents) -> RunOverview:
    try:
        state, started = _state(path, contents), _started(path, contents)
        if OBSERVATION in contents.names:
            server = values_of(path / OBSERVATION, "server").get("server", "")
            return RunOverview(
                path,
                state,
                started,
                f"observed {server}",
                verdict="observation",
                verdicts=("observation",),
            )
        question = str(values_of(path / PLAN, "question").get("question", ""))
        found = RunOverview(path, state, started, question, _trials_in(path))
        return _with_verdict(found) if ANALYSIS in contents.names else found
    except (OSError, ValueError, KeyError, TypeError):
        return RunOverview(path, State.UNREADABLE)


def _trials_in(path: Path) -> int:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(path / TRIALS) as entries:
        return sum(entry.name.isdigit() for entry in entries)
    return 0


def _state(path: Path, contents: _Contents) -> State:
    if contents.is_running:
        return State.RUNNING
    if JOURNAL in contents.names and open_entries(path / JOURNAL):
        return State.CHANGES_LEFT
    return State.FINISHED if ANALYSIS in contents.names else State.UNFINISHED


def _started(path: Path, contents: _Contents) -> datetime | None:
    """When the server was first described; for want of that, when the plan was written."""
    if ENVIRONMENT in contents.names:
        with suppress(OSError, ValueError, KeyError, TypeError):
            environment = values_of(path / ENVIRONMENT, "created_at")
            return datetime.fromisoformat(environment["created_at"])
    for name in (PLAN, OBSERVATION):
        with suppress(OSError):
            return datetime.fromtimestamp((path / name).stat().st_mtime, UTC)
    return None


def _with_verdict(run: RunOverview) -> RunOverview:
    """With its verdicts, and the effect that the first is about."""
    path = run.path / ANALYSIS
    found = first_values_of(path, SUMMARY).get(SUMMARY) or summary_of(object_in(path))
    verdicts, badge, effect_pct = found["verdicts"], found["badge"], found["effect_pct"]
    if not verdicts:
        raise ValueError("an analysis without a verdict")
    texts = all(isinstance(one, str) for one in (badge, *verdicts))
    reason = found.get("reason")
    is_sound = isinstance(effect_pct, int | float | None) and isinstance(reason, str | None)
    if not texts or not is_sound:
        raise TypeError("a summary of another form")
    return replace(
        run,
        verdict=verdicts[0],
        badge=badge,
        effect_pct=effect_pct,
        reason=reason,
        verdicts=tuple(verdicts),
    )


def summary_of(analysis: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `verdict`, `effect_pct` and `reason` (why it is undecided) of the first verdict,
    `badge` (the same in a few words), and `verdicts`, of all of them; what is not known is null.

    It is stored with the analysis, so that a list of a thousand runs need not parse as many
    analyses; of one without it (of an older pgassay) it is made here.
    """
    found = [one for one in analysis["findings"] if one["kind"] == "verdict"]
    judged = [_judged(one, analysis) for one in found]
    verdicts = [
        str(about.get("verdict", one["title"])) for one, about in zip(found, judged, strict=True)
    ]
    return {
        "verdict": verdicts[0] if verdicts else None,
        "badge": str(found[0]["title"]) if found else None,
        "effect_pct": judged[0].get("effect_pct") if judged else None,
        "reason": _reason(judged[0], analysis) if judged else None,
        "verdicts": verdicts,
    }


def _reason(judged: Mapping[str, Any], analysis: Mapping[str, Any]) -> str | None:
    """The code of why a verdict is undecided; older runs have none."""
    at = [judged.get(key) for key in _PLACE]
    found = analysis.get("undecided") or ()
    return next((one["reason"] for one in found if [one[key] for key in _PLACE] == at), None)


def _judged(finding: Mapping[str, Any], analysis: Mapping[str, Any]) -> Mapping[str, Any]:
    """The comparison that a finding is about; older runs name it as the finding's evidence."""
    about = finding.get("comparison") or finding.get("evidence")
    if not isinstance(about, Mapping):
        return {}
    comparisons = analysis.get("comparisons", ())
    same = (one for one in comparisons if all(one.get(key) == about.get(key) for key in _SAME))
    return next(same, {})
