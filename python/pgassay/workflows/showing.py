"""What a stored run was found to show, by its analysis.json.

Enters: a run directory. Leaves: its summary or another short text, made of what is stored; made of
a new analysis where analysis.json is not there, is of another version of pgassay, is older than the
trials or does not fit. Never: writes a file.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pgassay import __version__
from pgassay.analysis.measures.asked import asked_of
from pgassay.analysis.model import RunFacts
from pgassay.commit import commit
from pgassay.errors import RunDirectoryError
from pgassay.report.context import ReportContext
from pgassay.report.objects.stored import stored_answer
from pgassay.samples.layout import ANALYSIS, SPEC
from pgassay.samples.run_files import RunFiles

_Made = TypeVar("_Made")


def made_of(path: Path, make: Callable[[ReportContext], _Made]) -> _Made:
    """Returns what a function makes of a run: of its stored answer where that has all that the
    function reads and fits together, which anybody may have written, else of a new analysis."""
    run = RunFiles.open(path)
    with suppress(
        RunDirectoryError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError
    ):
        if run.is_up_to_date(ANALYSIS):
            return make(_stored(run))
    from pgassay.samples.run_directory import RunDirectory
    from pgassay.workflows.reporting import analyse_run  # a second of imports

    return make(analyse_run(RunDirectory.open(path)))


def _stored(run: RunFiles) -> ReportContext:
    """The context without what only charts and the record show. Raises ValueError where it cannot
    be made of what is stored."""
    stored = run.read_json(ANALYSIS)
    if (stored["pgassay"], stored["pgassay_commit"]) != (__version__, commit()):
        raise ValueError(ANALYSIS)
    if stored["gates"]:  # their limits are checked by intervals that are not stored
        raise ValueError(ANALYSIS)
    plan = run.plan()
    facts = RunFacts(run.environment(), run.read_text(SPEC), asked_of(run.path, plan))
    analysis, findings = stored_answer(stored)
    return ReportContext(
        run.name, plan.question, facts, plan, analysis, findings, (), "", __version__
    )
