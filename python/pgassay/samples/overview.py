"""What a folder of runs holds, from their JSON files alone.

Enters: a folder. Leaves: one `RunOverview` for each run or observation in it, oldest first.
Never: reads samples, analyses anything, or parses all of an analysis.json that begins with its
summary; imports what reading Parquet needs.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from pgassay.samples.journal_entries import JOURNAL, open_entries
from pgassay.samples.run_summary import SUMMARY, summary_of
from pgassay.samples.storage.json_head import head_of, object_in, values_of

PLAN = "plan.json"
OBSERVATION = "observation.json"
ANALYSIS = "analysis.json"
ENVIRONMENT = "environment.json"


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
    verdicts: tuple[str, ...] = ()
    """All of them, the first among them."""

    @property
    def more_verdicts(self) -> int:
        """How many there are beside the first."""
        return max(len(self.verdicts) - 1, 0)


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
        trials = sum(1 for one in (path / "trials").glob("[0-9]*") if one.name.isdigit())
        found = RunOverview(path, state, started, question, trials)
        return _with_verdict(found) if (path / ANALYSIS).is_file() else found
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
        environment = values_of(path / ENVIRONMENT, "created_at")
        return datetime.fromisoformat(environment["created_at"])
    for name in (PLAN, OBSERVATION):
        with suppress(OSError):
            return datetime.fromtimestamp((path / name).stat().st_mtime, UTC)
    return None


def _with_verdict(run: RunOverview) -> RunOverview:
    """With its verdicts, and the effect that the first is about."""
    path = run.path / ANALYSIS
    found = head_of(path).get(SUMMARY) or summary_of(object_in(path))
    if not found["verdicts"]:
        raise ValueError("an analysis without a verdict")
    return replace(
        run,
        verdict=found["verdict"],
        badge=found["badge"],
        effect_pct=found["effect_pct"],
        verdicts=tuple(found["verdicts"]),
    )
