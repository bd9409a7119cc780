"""The command that repeats a run.

Enters: the run's folder, plan and experiment file. Leaves: one line for a shell.
Never: reads a file, or runs anything.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from pgassay.errors import SpecError
from pgassay.plan.model import Plan
from pgassay.spec.model import DesignTable
from pgassay.spec.reading.tables import parsed_toml


def repeat_command(folder: Path, plan: Plan, spec_text: str) -> str:
    """Returns the command, with the seed that was used, and the mode if it is not the file's.

    The path begins at the run's own directory: that of its author means nothing elsewhere.
    """
    words = ["pgassay", "run", f"{folder.resolve().name}/spec.toml", "--seed", str(plan.seed)]
    if plan.mode != _mode_of(spec_text):
        words += ["--mode", plan.mode]
    if plan.calibrates:
        words.append("--aa")
    return shlex.join(words)


def _mode_of(spec_text: str) -> str | None:
    """The mode in the experiment file; None if that is not valid TOML."""
    try:
        design = parsed_toml(spec_text, "spec.toml").get("design", {})
        return str(design.get("mode", DesignTable.model_fields["mode"].default))
    except (SpecError, AttributeError):
        return None
