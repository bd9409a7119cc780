"""What a folder of runs holds, from their JSON files alone.

Enters: a folder. Leaves: one `RunOverview` for each run or observation in it, oldest first.
Never: reads samples or analyses anything; imports what reading Parquet needs.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pgassay.samples.journal_entries import JOURNAL, open_entries

PLAN = "plan.json"
OBSERVATION = "observation.json"
ANALYSIS = "analysis.json"
ENVIRONMENT = "environment.json"
_SAME = ("metric", "factor", "baseline", "level", "step")
"""The keys that a verdict's evidence and its comparison share."""


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
    more_verdicts: int = 0


def runs_in(folder: Path) -> list[RunOverview]:
    """The runs and observations directly in a folder, oldest first."""
    paths = {found.parent for name in (PLAN, OBSERVATION) for found in folder.glob(f"*/{name}")}
    runs = [overview_of(path) for path in paths]
    never = datetime.min.replace(tzinfo=UTC)
    return sorted(runs, key=lambda run: (run.started or never, run.path))


def overview_of(path: Path) -> RunOverview:
    """One of them; a damaged run must not hide the others, so nothing is raised."""
    try:
        state, started = _state(path), _started(path)
        if (path / OBSERVATION).is_file():
            server = _object(path / OBSERVATION).get("server", "")
            return RunOverview(path, state, started, f"observed {server}", verdict="observation")
        question = str(_object(path / PLAN).get("question", ""))
        trials = sum(1 for one in (path / "trials").glob("[0-9]*") if one.name.isdigit())
        found = RunOverview(path, state, started, question, trials)
        if (path / ANALYSIS).is_file():
            found = _with_verdict(found, _object(path / ANALYSIS))
        return found
    except (OSError, ValueError, KeyError, TypeError):
        return RunOverview(path, State.UNREADABLE)


def _state(path: Path) -> State:
    if _is_running(path):
        return State.RUNNING
    if open_entries(path / JOURNAL):
        return State.CHANGES_LEFT
    return State.FINISHED if (path / ANALYSIS).is_file() else State.UNFINISHED


def _is_running(path: Path) -> bool:
    """Whether a process holds the directory's lock."""
    try:
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(directory, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    finally:
        os.close(directory)
    return False


def _started(path: Path) -> datetime | None:
    """When the server was first described; for want of that, when the plan was written."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return datetime.fromisoformat(_object(path / ENVIRONMENT)["created_at"])
    for name in (PLAN, OBSERVATION):
        with suppress(OSError):
            return datetime.fromtimestamp((path / name).stat().st_mtime, UTC)
    return None


def _with_verdict(run: RunOverview, analysis: Mapping[str, Any]) -> RunOverview:
    """With the first verdict, the effect it is about, and how many more there are."""
    verdicts = [one for one in analysis["findings"] if one["kind"] == "verdict"]
    if not verdicts:
        raise ValueError("an analysis without a verdict")
    badge, about = str(verdicts[0]["title"]), verdicts[0].get("evidence") or {}
    judged = [
        one
        for one in analysis.get("comparisons", ())
        if about and all(one.get(key) == about.get(key) for key in _SAME)
    ]
    return replace(
        run,
        verdict=str(judged[0].get("verdict", badge)) if judged else badge,
        badge=badge,
        effect_pct=judged[0]["effect_pct"] if judged else None,
        more_verdicts=len(verdicts) - 1,
    )


def _object(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text("utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{path}: not a JSON object")
    return found
