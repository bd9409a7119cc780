"""Every path of the repository that a document names exists, and every SQL file that code names."""

from __future__ import annotations

import ast
import re
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "python" / "pgassay"
DOCUMENTS = (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
FOLDERS = {path.name for path in chain(ROOT.iterdir(), PACKAGE.iterdir()) if path.is_dir()}
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)+)/?`")
PLACEHOLDER = re.compile(r"(?<![a-z])[A-Z]{2,}|/\d+\b")
"""Such as NAME.py, and a trial's folder in a run directory."""


@pytest.mark.parametrize("document", DOCUMENTS, ids=[str(d.relative_to(ROOT)) for d in DOCUMENTS])
def test_every_path_that_a_document_names_exists(document: Path) -> None:
    named = PATH.findall(document.read_text("utf-8"))
    ours = {path for path in named if path.partition("/")[0] in FOLDERS - {"target"}}
    bases = (ROOT, PACKAGE, ROOT / "tests")
    assert {
        path
        for path in ours
        if not PLACEHOLDER.search(path) and not any((base / path).exists() for base in bases)
    } == set()


def test_every_sql_file_that_code_names_exists() -> None:
    """Also those of versions that no server here has."""
    named = {
        word.value
        for module in PACKAGE.rglob("*.py")
        if "statement(" in (text := module.read_text("utf-8"))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if call.func.id == "statement"
        for argument in call.args
        if not isinstance(argument, ast.JoinedStr)
        for word in ast.walk(argument)
        if isinstance(word, ast.Constant) and isinstance(word.value, str)
    }
    assert len(named) > 30
    assert {one for one in named if not (PACKAGE / f"server/sql/{one}.sql").is_file()} == set()


def test_sql_that_is_sent_to_servers_is_ascii() -> None:
    """A server refuses what its encoding cannot express, in a comment too."""
    found = [
        path
        for name in ("server/sql", "queries", "workloads")
        for path in (PACKAGE / name).rglob("*.sql")
    ]
    assert [file.name for file in found if not file.read_bytes().isascii()] == []
