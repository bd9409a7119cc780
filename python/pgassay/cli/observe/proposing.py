"""The experiment file of `--propose`.

Enters: a comparison of periods. Leaves: a new file, or a line that says why there is none.
Never: writes over a file.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.cli.terminal.console import err, plain, silenced
from pgassay.findings.observation.suspects import proposal_of
from pgassay.report.context import PeriodsContext
from pgassay.samples.storage.files import write_atomically


def write_proposal(context: PeriodsContext, path: Path, *, quiet: bool) -> None:
    """Writes the experiment that tests the first suspect, if there is one."""
    every = context.environment.server.every_setting
    present = {name: str(one.value) for name, one in every.items()}
    found = proposal_of(context.analysis, present)
    with silenced(quiet, err):
        if found is None:
            err.print("no experiment: nothing that one would test differs by more than usual")
            return
        write_atomically(path, found.spec.encode())
        err.print(f"written: {plain(str(path))}; put your workload into it")
