"""The help is whole and quick: it shows every text, and loads no more than that takes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from pgassay.cli.commands import COMMANDS, load_command
from pgassay.cli.main import app
from support.heavy import HEAVY
from support.runs.command import pgassay

FRAMES = str.maketrans(dict.fromkeys("│╭╮╰╯─", " "))


def squeezed(text: str) -> str:
    """Without frames and line breaks, which depend on the terminal."""
    return "".join(text.translate(FRAMES).replace("\\[", "[").split())


def loaded_by(code: str, *arguments: str) -> set[str]:
    """Modules in memory after a program has run in a Python of its own."""
    end = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", end, *arguments],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return set(done.stdout.splitlines()[-1].split())


def test_the_help_lists_every_command_with_the_first_line_of_its_own_help() -> None:
    shown = squeezed(pgassay("--help", COLUMNS="200").stdout)
    for name, (_, sentence) in COMMANDS.items():
        assert squeezed(f"{name}{sentence}") in shown
        assert load_command(name).help.replace("\\", "").splitlines()[0] == sentence


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_shows_the_text_of_every_option(name: str) -> None:
    # Wide enough that no text is broken between columns.
    shown = CliRunner().invoke(app, [name, "--help"], terminal_width=400, env={"COLUMNS": "400"})
    assert shown.exit_code == 0
    texts = [one.help for one in load_command(name).params if getattr(one, "help", None)]
    assert [text for text in texts if squeezed(text) not in squeezed(shown.output)] == []


def test_the_list_of_commands_loads_none_of_them() -> None:
    loaded = loaded_by("from typer.testing import CliRunner; from pgassay.cli.main import app;"
                       "CliRunner().invoke(app, ['--help'])")  # fmt: skip
    assert loaded & (HEAVY | {"pydantic"}) == set()


def test_the_help_of_no_command_loads_a_heavy_library() -> None:
    code = "import sys; from pgassay.cli.commands import load_command; load_command(sys.argv[1])"
    assert {name: found for name in COMMANDS if (found := loaded_by(code, name) & HEAVY)} == {}


def test_list_reads_runs_and_load_sends_transactions_without_numpy() -> None:
    assert loaded_by("import pgassay.samples.overview") & HEAVY == set()
    assert loaded_by("import pgassay.cli.load.execution") & HEAVY == {"psycopg"}


def test_doctor_checks_a_machine_and_a_mistake_in_a_file_is_refused_without_numpy() -> None:
    assert loaded_by("import pgassay.doctor.host") & HEAVY == {"psycopg"}
    for command in ("run", "plan"):
        code = f"""
from pgassay.cli.main import app
from pgassay.errors import SpecError
try:
    app(["{command}", "/no/such.toml"], standalone_mode=False)
except SpecError:
    pass
"""
        assert loaded_by(code) & HEAVY <= {"psycopg"}


def test_no_warning_of_a_library_reaches_a_user() -> None:
    code = (
        "import sys, warnings; from pgassay import entry; import pgassay.cli.main as cli;"
        "cli.main = lambda: warnings.warn('a library says so', RuntimeWarning); entry.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    asked = [sys.executable, "-W", "default", "-c", code]
    shown = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    assert "a library says so" in shown.stderr
