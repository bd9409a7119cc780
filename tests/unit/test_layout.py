"""The house rules that no linter knows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pgassay

PACKAGE = Path(pgassay.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def named(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_says_what_enters_what_leaves_and_what_it_never_does(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text("utf-8")))
    assert text, "a module opens with a docstring"
    if path.name not in ("__init__.py", "__main__.py"):
        words = " ".join(text.split())
        assert all(word in words for word in ("Enters:", "Leaves:", "Never:")), text


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_file_has_one_purpose_and_so_stays_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_only_trials_call_the_native_module(path: Path) -> None:
    imported = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert "pgassay._core" not in imported or named(path).startswith("trials/")
