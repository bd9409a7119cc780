"""A shell completes pgassay's commands, options, words and files, and loads little for it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pgassay.cli.commands import COMMANDS
from pgassay.cli.completion import Shell
from support.heavy import HEAVY
from support.packages import needs
from support.runs.command import pgassay

PROGRAM = Path(sys.executable).parent / "pgassay"
FOUND = os.environ | {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
LIMIT_S = 60.0


def offered(typed: str) -> list[str]:
    """What bash would be given for a line, whose last word is incomplete."""
    words = typed.split(" ")
    line = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [PROGRAM],
        env=os.environ | line | {"_PGASSAY_COMPLETE": "complete_bash"},
        capture_output=True, text=True, timeout=LIMIT_S, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


def test_commands_options_and_words_are_completed() -> None:
    assert offered("pgassay ") == [name for name in COMMANDS if " " not in name]
    assert offered("pgassay ru") == ["run"]
    assert {"--out", "--aa", "--json"} <= set(offered("pgassay run --"))
    assert offered("pgassay run --mode s") == ["switchback"]
    assert offered("pgassay completion f") == ["fish"]


def test_where_a_file_is_meant_the_shell_completes_files() -> None:
    assert offered("pgassay run wal") == []
    assert offered("pgassay run --out ") == []


def test_a_wrong_line_is_completed_without_a_message() -> None:
    assert offered("pgassay run --no-such-option x --o") == ["--out"]
    assert set(offered("pgassay nope --")) == {"--version", "--help"}


def test_completing_imports_no_heavy_library() -> None:
    code = """
import sys
from pgassay.cli import main
sys.argv[:] = ["pgassay"]
try:
    main._run()
except SystemExit:
    print()
    print(*sys.modules)
"""
    line = {"COMP_WORDS": "pgassay run --", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | line | {"_PGASSAY_COMPLETE": "complete_bash"},
        capture_output=True, text=True, timeout=LIMIT_S, check=True,
    )  # fmt: skip
    shown = done.stdout.splitlines()
    assert "--out" in shown
    assert set(shown[-1].split()) & HEAVY == set()


@pytest.mark.parametrize("shell", Shell)
def test_the_script_of_a_shell_is_printed_and_names_the_program(shell: Shell) -> None:
    done = pgassay("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_PGASSAY_COMPLETE=complete_{shell}" in done.stdout
    if shutil.which(shell) is not None:
        checked = subprocess.run([shell, "-n"], input=done.stdout, text=True, timeout=LIMIT_S)
        assert checked.returncode == 0


@pytest.mark.parametrize(
    ("words", "begin"),
    [
        (("bash", "--norc", "--noprofile"), ""),
        (("zsh", "-f"), "autoload -Uz compinit; compinit -D;"),
    ],
)
def test_tab_completes_in_a_real_shell(words: tuple[str, ...], begin: str, tmp_path: Path) -> None:
    if words[0] == "zsh":
        needs("zsh")
    (tmp_path / "wal level.toml").touch()
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        [*words, "-i"],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, start_new_session=True,
        env=FOUND | {"PS1": "$ ", "TERM": "dumb", "HISTFILE": ""},
    )  # fmt: skip
    os.close(theirs)
    try:
        _type(ours, f'{begin} eval "$(pgassay completion {words[0]})"; echo rea"dy"\n', "ready")
        _type(ours, "pgassay ru\t", "pgassay run ")
        _type(ours, "--no\x15pgassay run --res\t", "--resume ")
        _type(ours, "wal\t", "wal\\ level.toml ")
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


def test_a_real_fish_is_offered_commands_options_and_words() -> None:
    needs("fish")

    def given(typed: str) -> list[str]:
        script = f"pgassay completion fish | source; complete -C '{typed}'"
        done = subprocess.run(
            ["fish", "--no-config", "-c", script],
            env=FOUND, capture_output=True, text=True, timeout=LIMIT_S, check=True,
        )  # fmt: skip
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    assert given("pgassay ru") == ["run"]
    options = given("pgassay report --")
    assert len(options) == len(set(options))
    assert all(one.startswith("--") and " " not in one for one in options)
    assert given("pgassay completion f") == ["fish"]


def _type(terminal: int, keys: str, until: str) -> None:
    os.write(terminal, keys.encode())
    shown, end = "", time.monotonic() + LIMIT_S
    while until not in shown.replace("\x07", ""):
        assert time.monotonic() < end, shown
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")
