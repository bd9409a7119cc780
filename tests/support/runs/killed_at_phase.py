"""SIGKILL to the tool at a chosen phase, and what must hold after recovery.

Enters: a spec, a phase. Leaves: a run that was killed there, then recovered, resumed or followed by
another: nothing is left to undo, and finished trials are unchanged. Never: knows the target.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.runs.broken import (
    TOOL,
    WatchedRun,
    assert_nothing_open,
    prints_of,
    watched,
)
from support.runs.command import pgassay

# Kills itself by SIGKILL at the n-th call of a function, before it or after it.
_PROGRAM = """
import os, signal, sys
from importlib import import_module
place, when, number = sys.argv[1:4]
del sys.argv[1:4]
module, _, path = place.partition(":")
owner = import_module(module)
*between, name = path.split(".")
for part in between:
    owner = getattr(owner, part)
plain, left = getattr(owner, name), int(number)
def kill_at_call(*words, **options):
    global left
    left -= 1
    if left == 0 and when != "after":
        os.kill(os.getpid(), signal.SIGKILL)
    found = plain(*words, **options)
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
setattr(owner, name, kill_at_call)
from pgassay.entry import main
main()
"""


@dataclass(frozen=True)
class At:
    """A call at which the tool kills itself."""

    place: str
    """Its module and, behind a colon, its name there."""
    when: str = "before"
    number: int = 1

    @property
    def program(self) -> tuple[str, ...]:
        """The tool that kills itself at this call."""
        return ("-c", _PROGRAM, self.place, self.when, str(self.number))

    def __call__(self, tool: WatchedRun, base: Path) -> None:
        assert tool.end() == -signal.SIGKILL, tool.text


Phase = At | Callable[[WatchedRun, Path], None]
"""Returns in the phase; given the tool and where the server's files are."""


def after_a_trial(tool: WatchedRun) -> None:
    tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
    tool.forget()


def when_said(pattern: str, *, later: bool = False) -> Phase:
    def wait(tool: WatchedRun, base: Path) -> None:
        if later:
            after_a_trial(tool)
        tool.wait_for(lambda: tool.says(pattern), pattern)

    return wait


def when_journaled(words: str) -> Phase:
    def wait(tool: WatchedRun, base: Path) -> None:
        journal = tool.run / "journal.jsonl"
        tool.wait_for(lambda: journal.is_file() and words in journal.read_text(), words)

    return wait


def when_storing(tool: WatchedRun, base: Path) -> None:
    after_a_trial(tool)
    tool.wait_for(lambda: any((tool.run / "trials").glob(".*.part")), "a trial being stored")


WITH_TRIALS = {
    "resetting",
    "starting with other settings",
    "a restart under way",
    "warm-up",
    "load",
    "storing",
}


def killed(tool: WatchedRun, base: Path, phase: str, wait: Phase) -> dict[str, str]:
    """Digests of the trials that were finished when the tool was killed in this phase."""
    wait(tool, base)
    tool.kill()
    kept = tool.finished()
    assert bool(kept) or phase not in WITH_TRIALS
    return prints_of(tool.run, kept)


def assert_resumed_to_the_end(run: Path, kept: dict[str, str], **environment: str) -> None:
    """`--resume` ends with every trial, earlier ones unchanged, and records when it resumed."""
    done = pgassay("run", "--resume", run, "--json", **environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == 4
    trials = {name.split("/")[1] for name in kept}
    assert prints_of(run, sorted(trials)) == kept
    assert sorted(path.name for path in (run / "trials").iterdir()) == [
        "0001", "0002", "0003", "0004",
    ]  # fmt: skip
    notes = json.loads((run / "environment.json").read_text()).get("resumed", [])
    assert [note["after_trials"] for note in notes] == ([len(trials)] if len(trials) < 4 else [])
    assert ("resumed" in (run / "report.html").read_text()) == bool(notes)
    assert_nothing_open(run)


def kill_and_repair(
    run: Path,
    spec: Path,
    base: Path,
    phase: tuple[str, Phase],
    then: str | Path,
    **environment: str,
) -> None:
    """A run on an existing server killed in a phase, then recovered or resumed, or followed by the
    run of another spec."""
    program = phase[1].program if isinstance(phase[1], At) else TOOL
    with watched(run, spec, program=program, **environment) as tool:
        kept = killed(tool, base, *phase)
    if then == "resume":
        assert_resumed_to_the_end(run, kept, **environment)
        return
    words = ("recover", run) if then == "recover" else ("run", then, "--out", f"{run}-next")
    done = pgassay(*words, **environment)
    assert done.returncode == 0, done.stderr
    assert prints_of(run, tool.finished()) == kept
    assert_nothing_open(run)
