"""The catalogue of refusals has what the code refuses, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import pgassay
from pgassay.refusals.refusal import Refusal, catalogue, found_by, refuse

CLASSES = r"Refusal|UnfitValue|NotConnected|PendingChanges|\w+Refused"
PACKAGE = Path(pgassay.__file__).parent


def test_every_code_is_in_the_catalogue_and_every_entry_is_used() -> None:
    text = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    assert {code for code in catalogue() if f'"{code}"' not in text} == set()
    codes = re.findall(rf'(?:{CLASSES})\(\s*"([\w-]+)"', text)
    codes += re.findall(r'SettingRefused\(\s*[^,"]+,\s*"([^"]+)"', text)
    assert set(codes) <= catalogue().keys()
    sentences = re.findall(rf'\b(?!Connection)(?:{CLASSES})\(\s*(f?"[^"]*[a-z] [a-z][^"]*")', text)
    assert sentences == [], "a code, not a sentence"


def test_an_entry_is_a_text_with_a_fix_and_a_key() -> None:
    of_files = (tomllib.loads(one.read_text("utf-8")) for one in PACKAGE.glob("refusals/*.toml"))
    assert sum(map(len, of_files)) == len(catalogue()), "a code is in two files"
    for code, entry in catalogue().items():
        assert entry.keys() <= {"text", "fix", "key"}, code
        assert not entry["text"].endswith((".", ";")), code


def test_a_refusal_is_one_line_of_file_key_what_is_wrong_and_what_to_write() -> None:
    error = Refusal("given-twice", "load.threads", other="[load]").in_file("lab.toml")
    assert str(error) == "lab.toml: load.threads: is also in [load]; keep one of the two"
    assert (error.code, error.values) == ("given-twice", {"other": "[load]"})


def test_a_stage_is_checked_whole_and_shown_whole() -> None:
    def two(name: str) -> list[Refusal]:
        return [Refusal("too-few-levels", name), Refusal("levels-repeated", name)]

    def raises(name: str) -> list[Refusal]:
        raise Refusal("setting-is-secret", name)

    found = found_by([two, raises, two], "x")
    codes = ["too-few-levels", "levels-repeated", "setting-is-secret"]
    assert [one.code for one in found if isinstance(one, Refusal)] == codes
    with pytest.raises(Refusal) as refused:
        refuse(found, "lab.toml")
    assert refused.value.code == codes[0]
    others = refused.value.excerpt.splitlines()
    assert [line.startswith("pgassay: lab.toml: x: ") for line in others] == [True, True]
    refuse([])
