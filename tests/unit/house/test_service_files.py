"""The unit of systemd and the container example have options that the command has."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pgassay.cli.commands import load_command

DEPLOY = Path(__file__).parents[3] / "deploy"
UNIT = DEPLOY / "pgassay-observe@.service"
PROGRAM = "/opt/pgassay/bin/pgassay"


def assignments() -> dict[str, str]:
    lines = UNIT.read_text().splitlines()
    pairs = [line.partition("=") for line in lines if "=" in line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def refuse_unknown(words: list[str]) -> None:
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    known = {name for one in load_command("observe").params for name in one.opts}
    assert {"--out", "--keep", "--max-disk"} <= given <= known


def test_the_unit_runs_the_command_and_ends_it_in_order() -> None:
    found = assignments()
    program, verb, *words = found["ExecStart"].split()
    assert (program, verb) == (PROGRAM, "observe")
    refuse_unknown(words)
    assert found["Restart"] == "always"
    assert found["SuccessExitStatus"] == "130"
    assert found["User"] == "pgassay"
    assert found["ProtectSystem"] == "strict"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "pgassay-observe@prod.service"
    unit.write_text(UNIT.read_text().replace(PROGRAM, sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_container_runs_the_command_without_rights() -> None:
    observe = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["observe"]
    verb, *words = observe["command"]
    assert verb == "observe"
    refuse_unknown(words)
    assert observe["restart"] == "always"
    assert observe["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in observe["ports"])
