"""The catalogue of refusals has what the code refuses, and nothing else."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import pgassay
from pgassay import errors
from pgassay.refusals.refusal import Refusal, catalogue, found_by, refuse

PACKAGE = Path(pgassay.__file__).parent


def test_every_code_is_in_the_catalogue_and_every_entry_is_used() -> None:
    text = "\n".join(texts().values())
    assert {code for code in catalogue() if f'"{code}"' not in text} == set()


def test_an_error_of_ours_has_a_code_and_no_sentence() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}"
        for path, module in modules()
        for node in with_sentences(module)
    ]
    assert found == []


def test_an_error_with_a_sentence_is_found() -> None:
    for bad in (
        "TargetError('the server says nothing')",
        "errors.TrialError(f'trial {number}: stopped')",
        "RestoreFailed('; '.join(problems))",
        "ConnectionRefused(str(error), sqlstate=error.sqlstate)",
        "TargetRefused('the server says nothing')",
        "RestoreRefused(f'{where}: {error}')",
        "SettingRefused(name, 'the server takes no such value')",
    ):
        assert list(with_sentences(ast.parse(bad))), bad
    for good in (
        "TargetRefused('not-open')",
        "TargetRefused('not-open' if made else 'no-row', doing='looking at the server')",
        "SettingRefused(name, code, value=value)",
        "TrialError(Note.of('trials/run/of-trial', number=1))",
        "TrialError(of_trial)",
    ):
        assert not list(with_sentences(ast.parse(good))), good


@cache
def texts() -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def modules() -> Iterator[tuple[Path, ast.Module]]:
    """Those that name an error of ours, parsed."""
    named = re.compile(rf"\b(?:{'|'.join(classes())})\b")
    return ((path, ast.parse(text)) for path, text in texts().items() if named.search(text))


@cache
def classes() -> frozenset[str]:
    """The names of all errors of ours."""
    bases = {
        name: set(re.findall(r"[\w.]+", of))
        for text in texts().values()
        for name, of in re.findall(r"^ *class (\w+)\(([^)]*)\)", text, re.MULTILINE)
    }
    found = {errors.PgassayError.__name__, "UnfitValue"}
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    return frozenset(found)


def with_sentences(module: ast.Module) -> Iterator[ast.Call]:
    """Yields where an error of ours is made of a text that is no code, or of one put together."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name not in classes():
            continue
        said = node.args[1:2] if name == "SettingRefused" else node.args[:1]
        parts = [part for one in said for part in _chosen(one)]
        if any(_is_text(one) for one in parts):
            yield node


def _chosen(node: ast.expr) -> list[ast.expr]:
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=text):
            return text not in catalogue()
        case ast.JoinedStr() | ast.BinOp():
            return True
        case ast.Call(func=ast.Name(id="str")) | ast.Call(func=ast.Attribute(attr="join")):
            return True
    return False


def test_an_entry_is_a_text_with_a_fix_and_a_key() -> None:
    of_files = (tomllib.loads(one.read_text("utf-8")) for one in PACKAGE.glob("refusals/*.toml"))
    assert sum(map(len, of_files)) == len(catalogue()), "a code is in two files"
    for code, entry in catalogue().items():
        assert entry.keys() <= {"text", "fix", "otherwise", "key"}, code
        assert not entry["text"].endswith((".", ";")), code
        assert not re.match(r"(write|give|add|drop|answer|use|take) ", entry["text"]), (
            f"{code}: what to do is its fix"
        )


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
