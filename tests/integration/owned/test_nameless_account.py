"""pgassay runs under an account without a name, as some container platforms have it.

A Python is started under that number; it may read what root may, because the interpreter
may be in root's home.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.server.hosts.account import Account
from support.runs.broken import assert_nothing_open, spec_file
from support.runs.command import last_line
from support.servers.lab import SECRET, LabServer, installation_named, is_root, running_lab_server

NUMBER = 54321
READS = "+dac_read_search"
TARGET = """[target]
dsn = "host=127.0.0.1 port={port} user=lab dbname=lab"
allow_changes = true
accept = ["commits", "sessions"]
"""


@pytest.fixture(scope="module")
def server(account: Account, servers_base: Path) -> Iterator[LabServer]:
    with running_lab_server(installation_named("embedded-18"), account, servers_base) as server:
        yield server


@pytest.fixture
def home(servers_base: Path) -> Iterator[Path]:
    if not is_root() or shutil.which("setpriv") is None:
        pytest.skip("only root takes on a number")
    folder = Path(tempfile.mkdtemp(prefix="nameless-", dir=servers_base))
    os.chown(folder, NUMBER, NUMBER)
    yield folder
    shutil.rmtree(folder)


def nameless(
    home: Path, *arguments: str | Path, without: str = ""
) -> subprocess.CompletedProcess[str]:
    """`pgassay ARGUMENTS` under the number, without USER or LOGNAME."""
    words = ["setpriv", f"--reuid={NUMBER}", f"--regid={NUMBER}", "--clear-groups"]
    words += [f"--inh-caps={READS}", f"--ambient-caps={READS}", "--", sys.executable]
    own = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PGASSAY_GUARDS": os.environ["PGASSAY_GUARDS"],
        "PGPASSWORD": SECRET,
        "COLUMNS": "300",
    }
    own.pop(without, None)
    return subprocess.run(
        [*words, "-m", "pgassay", *map(str, arguments)],
        env=own, cwd=home, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_an_account_without_a_name_runs_an_experiment(server: LabServer, home: Path) -> None:
    spec = spec_file(home, target=TARGET.format(port=server.port), step="0.4s")
    planned = nameless(home, "plan", spec)
    assert planned.returncode == 0, planned.stderr
    done = nameless(home, "run", spec, "--out", home / "run")
    assert done.returncode == 0, done.stderr
    assert_nothing_open(home / "run")
    assert len(list((home / "run" / "trials").glob("*/trial.json"))) == 4


def test_without_a_home_the_error_names_the_folder_that_cannot_be_written(
    server: LabServer, home: Path
) -> None:
    spec = spec_file(home, target=TARGET.format(port=server.port), step="0.4s")
    planned = nameless(home, "plan", spec, without="HOME")
    assert planned.returncode == 0, planned.stderr
    done = nameless(home, "run", spec, "--out", home / "run", without="HOME")
    assert done.returncode != 0
    # What lacks is the folder itself, or, where root once made that, the server's own in it.
    said = last_line(done.stderr)
    assert said.startswith("pgassay: /.local/state/pgassay/servers")
    assert "or name another with XDG_STATE_HOME" in said


def test_a_connection_without_a_user_says_to_name_one(server: LabServer, home: Path) -> None:
    done = nameless(home, "doctor", f"host=127.0.0.1 port={server.port} dbname=lab")
    assert "local user with ID 54321 does not exist" in done.stdout
    assert "name a user with user= or PGUSER" in done.stdout
