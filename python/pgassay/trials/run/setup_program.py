"""The program of the user's that makes the workload's data: `workload.setup`.

Enters: an experiment, the server that is being prepared. Leaves: what the program made there, its
output in setup.log of the run directory, or an error with the last line of it. Never: runs on a
server of the user's, or for an experiment file that is not trusted (`spec/`).
"""

from __future__ import annotations

from pathlib import Path

from pgassay.interruption import raise_if_interrupted
from pgassay.server.protocol import Target
from pgassay.spec.experiment import Spec
from pgassay.trials.load.program.process import environment, expanded, run_program

KEY = "workload.setup"
LOG = "setup.log"
VARIABLES = ("PGASSAY_SCALE", "PGASSAY_SEED")
_LIMIT_S = 6 * 3600.0


def run_setup(spec: Spec, target: Target, folder: Path) -> None:
    """Runs the program, if there is one, beside the experiment file; libpq's variables name the
    server, so that psql and most tools for migrations need no address. `folder` gets the log."""
    words = spec.file.workload.setup
    if words is None:
        return
    connection = target.parameters()
    values = (str(spec.file.workload.scale), str(spec.seed))
    given = dict(zip(VARIABLES, values, strict=True))
    with environment(connection, given) as of_process:
        run_program(
            expanded(words, given),
            named=KEY,
            variables=of_process,
            folder=spec.folder,
            log=folder / LOG,
            limit_s=_LIMIT_S,
            watch=lambda elapsed_s: raise_if_interrupted(),
            secret=connection.password,
        )
