"""A user's own rules: added, replacing shipped ones, and refused with file, key and fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.findings.diagnosis.recognised import find
from pgassay.findings.diagnosis.rule_file import known_rules
from support.refusals import refused
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
    ("text", "replaced", "code", "key"),
    [
        ('role = "leading"', "", "no-leading-sign", None),
        ("least = 0.3", "lest = 0.3", "unknown-key", "sign.0.lest"),
        ("least = 0.3", "", "signals-without-limit", "sign.0"),
        ("sessions//IPC", "IPC", "signal-form", "sign.0.signals"),
        ("version = 3", 'version = "3"', "not-of-its-type", "version"),
        ('source = "our runs of last year"', "", "key-missing", "sign.0.source"),
        ("version = 3", "version = 3\nsupporting = 1", "too-many-supporting", None),
        ("[[sign]]", "[[sign", "not-toml", None),
        (
            'signals = ["sessions//IPC:ExecuteGather"]\nper = "session"\nleast = 0.3',
            'script = "("',
            "no-expression",
            "sign.0.script",
        ),
    ],
)
def test_a_mistake_is_named_with_file_and_key(
    folder: Path, text: str, replaced: str, code: str, key: str | None
) -> None:
    assert text in _RULE
    (folder / "mine.toml").write_text(_RULE.replace(text, replaced), "utf-8")

    with refused(code, key, str(folder / "mine.toml")):
        known_rules()


def test_a_folder_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGASSAY_RULES", "/nowhere/rules")

    with refused("rules-no-folder", "PGASSAY_RULES", path="/nowhere/rules"):
        known_rules()


def test_two_files_with_one_name_are_refused(folder: Path) -> None:
    for name in ("a.toml", "b.toml"):
        (folder / name).write_text(_RULE, "utf-8")

    with refused("rule-name-twice", path=folder / "b.toml", name="parallel-wait"):
        known_rules()
