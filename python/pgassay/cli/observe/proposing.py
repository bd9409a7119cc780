"""The experiment file of `--propose`.

Enters: a proposal, or none. Leaves: a new file, or a line that says why there is none.
Never: writes over a file.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.cli.terminal.console import err, plain, silenced
from pgassay.findings.suspects import Proposal
from pgassay.refusals.refusal import SetupRefused
from pgassay.samples.storage.files import write_atomically


def refuse_existing(path: Path | None) -> None:
    """Refuses a file that is there already."""
    if path is not None and path.exists():
        raise SetupRefused("proposal-there-already", f"--propose {path}")


def write_proposal(found: Proposal | None, path: Path, *, quiet: bool) -> None:
    """Writes the experiment, if there is one."""
    with silenced(quiet, err):
        if found is None:
            err.print("no experiment: nothing that one would test differs by more than usual")
            return
        write_atomically(path, found.spec.encode())
        err.print(f"written: {plain(str(path))}; put your workload into it")
