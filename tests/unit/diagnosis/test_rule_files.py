"""A user's own rules: added, replacing shipped ones, and refused with file, key and fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.errors import PgassayError
from pgassay.findings.diagnosis.recognised import find
from pgassay.findings.diagnosis.rule_file import known_rules
from support.synthetic.signals import analysis_with

_RULE = """
name = "parallel-wait"
version = 3
title = "Leaders wait for workers"
claim = "Parallel queries wait for their workers."
confirm = "Set max_parallel_workers_per_gather = 0 in one arm."
refute = "The waits stay."

[[sign]]
title = "Sessions that wait for parallel workers"
role = "leading"
signals = ["sessions//IPC:ExecuteGather"]
per = "session"
least = 0.3
unit = "%"
source = "our runs of last year"
"""
_SHOWN = {"sessions//IPC:ExecuteGather": 1.0, "sessions//CPU": 1.0}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PGASSAY_RULES", str(tmp_path))
    return tmp_path


def test_a_users_rule_is_recognised_like_those_that_ship(folder: Path) -> None:
    (folder / "mine.toml").write_text(_RULE, "utf-8")

    (found,) = find(*analysis_with([_SHOWN] * 3))

    assert (found.rule, found.confidence) == ("parallel-wait/3", "supported")


def test_a_users_rule_takes_the_place_of_a_shipped_one_of_its_name(folder: Path) -> None:
    (folder / "mine.toml").write_text(_RULE.replace("parallel-wait", "lock-queue"), "utf-8")

    (rule,) = (rule for rule in known_rules() if rule.name == "lock-queue")

    assert rule.version == 3


@pytest.mark.parametrize(
    ("text", "replaced", "problem"),
    [
        ('role = "leading"', "", "no sign is leading"),
        ("least = 0.3", "lest = 0.3", "sign.0.lest: unknown key; did you mean least?"),
        ("least = 0.3", "", "sign.0: signals need a limit; write least or most"),
        ("sessions//IPC", "IPC", "'IPC:ExecuteGather' is not SOURCE/OBJECT/NAME"),
        ("version = 3", 'version = "3"', "version: '3' given; it should be a whole number"),
        ('source = "our runs of last year"', "", "sign.0.source: this key is required"),
        ("version = 3", "version = 3\nsupporting = 1", "supporting is 1, of 0 supporting signs"),
        ("[[sign]]", "[[sign", "not valid TOML"),
        (
            'signals = ["sessions//IPC:ExecuteGather"]\nper = "session"\nleast = 0.3',
            'script = "("',
            "sign.0.script: '(' is no regular expression",
        ),
    ],
)
def test_a_mistake_is_named_with_file_and_key(
    folder: Path, text: str, replaced: str, problem: str
) -> None:
    assert text in _RULE
    (folder / "mine.toml").write_text(_RULE.replace(text, replaced), "utf-8")

    with pytest.raises(PgassayError) as refused:
        known_rules()

    assert str(refused.value).startswith(f"{folder / 'mine.toml'}: ")
    assert problem in str(refused.value)


def test_a_folder_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGASSAY_RULES", "/nowhere/rules")

    with pytest.raises(PgassayError, match=r"PGASSAY_RULES: /nowhere/rules: is not a folder"):
        known_rules()


def test_two_files_with_one_name_are_refused(folder: Path) -> None:
    for name in ("a.toml", "b.toml"):
        (folder / name).write_text(_RULE, "utf-8")

    with pytest.raises(PgassayError, match=r"b\.toml: name: another file has parallel-wait too"):
        known_rules()
