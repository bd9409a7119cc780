"""Shows where a sentence of a report is made, and what decides that it is shown.

    make where TEXT="other processes used more than 5 % of the host's processors"

Enters: a sentence or a piece of one, as a report, a terminal or a file shows it in English, figures
and names included. Leaves: the messages that it may be made of, the longest match first: the file
and line of each, its code or key, and the functions that use that code.
Never: needs a whole sentence; a piece of six letters or more is enough.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from tools.messages.extract import PACKAGE

_ROOT = PACKAGE.parents[1]
_MOST = 8
_LEAST_LETTERS = 6
_TABLE = re.compile(r"^\[+([\w.\"-]+)\]+")
_KEY = re.compile(r"^([\w-]+)\s*=")


class Place(NamedTuple):
    """A message in a file."""

    text: str
    path: Path
    line: int
    code: str
    """Its code or key in a TOML file; empty in a module, where the place is that of its use."""


def main() -> None:
    """Prints the places of the text that was given."""
    text = " ".join(" ".join(sys.argv[1:]).split())
    found = sorted(((_overlap(one.text, text), one) for one in _places()), reverse=True)
    shown = [(letters, one) for letters, one in found if letters >= _LEAST_LETTERS][:_MOST]
    if not shown:
        print("nothing in the package says that; try another piece of the sentence")
    for letters, one in shown:
        if letters * 2 < shown[0][0]:
            break
        print(f"{one.path.relative_to(_ROOT)}:{one.line}  {one.code}")
        print(f"    {one.text[:150]}")
        for use in _uses(one):
            print(f"    used in {use}")


def _overlap(message: str, text: str) -> int:
    """Returns how many letters of a message's own words stand in the text, two words in a row or
    more."""
    words = [word for part, *_ in _parsed(message) for word in (*part.split(), "")]
    blocks = SequenceMatcher(None, words, text.split(), autojunk=False).get_matching_blocks()
    least = min(2, len(text.split()))
    runs = (words[one.a : one.a + one.size] for one in blocks if one.size >= least)
    return sum(len(word) for run in runs for word in run)


def _parsed(message: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(message))
    except ValueError:
        return [(message, None, None, None)]


def _places() -> Iterator[Place]:
    for path in sorted(PACKAGE.rglob("*.toml")):
        if PACKAGE / "studies" not in path.parents:
            yield from _of_table(path)
    for path, tree in _modules():
        nodes = list(ast.walk(tree))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if not isinstance(node, ast.Constant) or id(node) in docstrings:
                continue
            if isinstance(node.value, str) and " " in node.value:
                yield Place(node.value, path, node.lineno, "")


def _of_table(path: Path) -> Iterator[Place]:
    """Every text of a TOML file with the table and key above it."""
    table = key = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if named := _TABLE.match(line):
            table, key = named[1], ""
        elif named := _KEY.match(line):
            key = named[1]
        value = line.partition("=")[2] if key and _KEY.match(line) else line
        if " " in value.strip() and not line.startswith("#"):
            code = f"[{table}] {key}".strip() if table else key
            yield Place(value.strip(" \"',[]"), path, number, code)


@cache
def _modules() -> tuple[tuple[Path, ast.Module], ...]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return tuple((path, ast.parse(path.read_text("utf-8"))) for path in paths)


def _uses(place: Place) -> list[str]:
    """The functions that hold the text, or name its code or key; where none does, those that make
    codes of its room, or the module beside the file."""
    if not place.code:
        return _functions(lambda node: node.lineno == place.line, [place.path])
    table, _, key = (part.strip() for part in place.code.strip("[").partition("]"))
    # A note of a rule is `RULE/table.key`, a text of a module `key`, a note of a room `ROOM/table`.
    names = [f"{table}.{key}", key, table.rpartition(".")[2]]
    if key in ("", "text", "one", "fix"):
        del names[:2]
    around = _around(place)
    found = next((uses for one in names if (uses := _naming(one, around))), [])
    if not found:
        room = f"{place.path.parent.relative_to(PACKAGE)}/"
        found = _functions(lambda node: node.value == room, around)
    beside = place.path.with_suffix(".py")
    return found or [str((beside if beside.exists() else place.path.parent).relative_to(_ROOT))]


def _naming(name: str, paths: list[Path]) -> list[str]:
    return _functions(lambda node: str(node.value).rpartition("/")[2] == name, paths)


def _around(place: Place) -> list[Path]:
    """The modules of the room of a TOML file; a code with its room may be used anywhere."""
    every = [path for path, _ in _modules()]
    own = [path for path in every if path.parent == place.path.parent]
    return every if "notes.toml" in place.path.name or place.path.parent.name == "refusals" else own


def _functions(fits: Callable[[ast.Constant], bool], paths: list[Path]) -> list[str]:
    """`file:line function` of each text that fits."""
    found = []
    for path, tree in _modules():
        if path not in paths:
            continue
        scopes = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.ClassDef)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and fits(node):
                inside = [one for one in scopes if one.lineno <= node.lineno <= _end(one)]
                name = max(inside, key=lambda one: one.lineno).name if inside else "the module"
                found.append(f"{path.relative_to(_ROOT)}:{node.lineno} ({name})")
    return list(dict.fromkeys(found))[:_MOST]


def _end(node: ast.FunctionDef | ast.ClassDef) -> int:
    return node.end_lineno or node.lineno


if __name__ == "__main__":
    main()
