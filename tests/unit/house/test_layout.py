"""The house rules that no linter knows; each test lists the modules that break its rule."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pgassay
from pgassay.server.protocol import CONTROL_NAME, LOAD_NAME, SAMPLER_NAME

PACKAGE = Path(pgassay.__file__).parent
MODULES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
MOST_LINES = 400
LEANING = r"(Such as|The same|Those|Of|Some)\b"


def modules_with(pattern: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules whose text has it, parsed, which takes seconds for all of them."""
    for name, path in MODULES.items():
        if re.search(pattern, text := path.read_text("utf-8")):
            yield name, ast.parse(text)


def test_every_module_says_what_enters_what_leaves_and_what_it_never_does() -> None:
    silent = []
    for name, path in MODULES.items():
        begin = re.match(r'r?"""(.*?)"""', path.read_text("utf-8"), re.DOTALL)
        words = begin[1] if begin else ""
        is_package = name.endswith(("__init__.py", "__main__.py"))
        wanted = () if is_package else ("Enters:", "Leaves:", "Never:")
        if not words or not all(word in words for word in wanted):
            silent.append(name)
    assert silent == []


def test_no_docstring_of_a_public_function_or_class_leans_on_its_name() -> None:
    leaning = [
        f"{name}:{node.lineno}"
        for name, tree in modules_with(rf'"""\s*{LEANING}')
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        if re.match(LEANING, ast.get_docstring(node) or "")
    ]
    assert leaning == []


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {name: path.read_text("utf-8").count("\n") for name, path in MODULES.items()}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_only_trials_doctor_and_drawing_from_logs_call_the_native_module() -> None:
    callers = [
        name
        for name, tree in modules_with("_core")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and any(f"{node.module}.{alias.name}" == "pgassay._core" for alias in node.names)
    ]
    rooms = ("trials/", "doctor/", "draw/log/")
    assert [name for name in callers if not name.startswith(rooms)] == []


def test_sql_tells_our_sessions_by_their_whole_names() -> None:
    ours = {CONTROL_NAME, SAMPLER_NAME, LOAD_NAME}
    beside = []
    for path in sorted(PACKAGE.rglob("*.sql")):
        text = path.read_text("utf-8")
        if not (asked := re.findall(r"application_name\b[^\n]*'pgassay[^\n]*", text)):
            continue
        lists = re.findall(
            r"(?:a\.)?application_name(?:, ''\))? (?:NOT )?IN \(((?:'[a-z ]+'(?:, )?)+)\)", text
        )
        named = [one for names in lists for one in re.findall(r"'([a-z ]+)'", names)]
        if len(lists) != len(asked) or not {CONTROL_NAME, SAMPLER_NAME} <= set(named) <= ours:
            beside.append(path.name)
    assert beside == []
