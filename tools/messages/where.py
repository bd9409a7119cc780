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
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from tools.messages.extract import PACKAGE

_ROOT = PACKAGE.parents[1]
_MOST = 8
_LEAST_LETTERS = 6
_LEAST_OF_FRAME = 11
"""Letters of a message that stands around the best one, as `No profile of {arms}: {reason}.`"""
_EXACT = 1000
"""Letters that a message of exactly the text counts for."""
_TABLE = re.compile(r"^\[+([\w.\"-]+)\]+")
_KEY = re.compile(r"^([\w-]+)\s*=")
_BESIDE_WORDS = ".,;:()"


class Place(NamedTuple):
    """A message in a file."""

    text: str
    path: Path
    line: int
    code: str
    """Its code or key in a TOML file; empty in a module, where the place is that of its use."""


class Literal(NamedTuple):
    """A text in a module that is no docstring, or a piece of an f-string."""

    value: str
    path: Path
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(_ROOT)}:{self.line} ({self.function})"


def main() -> None:
    """Prints the places of the text that was given."""
    text = " ".join(" ".join(sys.argv[1:]).split())
    found = [(_overlap(one.text, text), one) for one in _places(text)]
    shown = [(letters, one) for letters, one in found if letters >= _LEAST_LETTERS]
    shown.sort(key=lambda found: (-found[0], _letters(found[1].text), found[1]))
    if not shown:
        print(
            "nothing in the package says that; names and figures are values, which no message "
            "has: try the words beside them, or the title above them"
        )
    for letters, one in shown[:_MOST]:
        is_frame = letters >= _LEAST_OF_FRAME and letters == _letters(one.text)
        if letters * 2 < shown[0][0] and not is_frame:
            continue
        print(f"{one.path.relative_to(_ROOT)}:{one.line}  {one.code}")
        print(f"    {one.text[:150]}")
        for use in _uses(one):
            print(f"    used in {use}")


def _overlap(message: str, text: str) -> int:
    """Returns how many letters of a message's own words stand in the text, two words in a row or
    more."""
    if message == text:
        return _EXACT
    words = _own_words(message)
    blocks = SequenceMatcher(None, words, _words(text), autojunk=False).get_matching_blocks()
    least = min(2, len(text.split()))
    runs = (words[one.a : one.a + one.size] for one in blocks if one.size >= least)
    return sum(len(word) for run in runs for word in run)


def _letters(message: str) -> int:
    return sum(map(len, _own_words(message)))


def _own_words(message: str) -> list[str]:
    """The words between the values, which an empty one stands for."""
    return [word for part, *_ in _parsed(message) for word in (*_words(part), "")]


def _words(text: str) -> list[str]:
    return [bare for word in text.split() if (bare := word.strip(_BESIDE_WORDS))]


def _parsed(message: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(message))
    except ValueError:
        return [(message, None, None, None)]


def _places(text: str) -> Iterator[Place]:
    """Every message of several words, and those of one word that are the whole text."""
    for path in sorted(PACKAGE.rglob("*.toml")):
        if PACKAGE / "studies" not in path.parents:
            yield from _of_table(path, text)
    for one in _literals():
        if " " in one.value or one.value == text:
            yield Place(one.value, one.path, one.line, "")


def _of_table(path: Path, text: str) -> Iterator[Place]:
    """Every text of a TOML file with the table and key above it."""
    table = key = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if named := _TABLE.match(line):
            table, key = named[1], ""
        elif named := _KEY.match(line):
            key = named[1]
        value = line.partition("=")[2] if key and _KEY.match(line) else line
        said = value.strip(" \"',[]")
        if (" " in value.strip() or said == text) and not line.startswith("#"):
            code = f"[{table}] {key}".strip() if table else key
            yield Place(said, path, number, code)


@cache
def _literals() -> tuple[Literal, ...]:
    """Every text of every module, read once."""
    found: list[Literal] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        _collect(ast.parse(path.read_text("utf-8")), path, "the module", found)
    return tuple(found)


def _collect(node: ast.AST, path: Path, function: str, found: list[Literal]) -> None:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            found.append(Literal(node.value, path, node.lineno, function))
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = node.name
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Name | ast.expr_context):
            _collect(child, path, function, found)


def _uses(place: Place) -> list[str]:
    """The functions that hold the text, or name its code or key; where none does, those that make
    codes of its room, those that name its folder, or the module beside the file."""
    if not place.code:
        same = [one for one in _literals() if one.path == place.path and one.line == place.line]
        return _shown(same)
    if found := next(filter(None, _named(place)), []):
        return _shown(found)
    beside, room = place.path.with_suffix(".py"), place.path.parent
    if beside.exists():
        return [str(beside.relative_to(_ROOT))]
    around = [one for one in _literals() if one.path.parent == room.parent]
    found = [one for one in around if one.value == room.name]
    return _shown(found) or [str(room.relative_to(_ROOT))]


def _named(place: Place) -> Iterator[list[Literal]]:
    """The literals that name a message, the surest way first.

    A note of a rule is `RULE/table.key`, a text of a module `key`, a note of a room `ROOM/table`, a
    refusal `table`; a code that is made with an f-string has the form as a value.
    """
    table, _, key = (part.strip() for part in place.code.strip("[").partition("]"))
    room, last = place.path.parent, table.rpartition(".")[2]
    code = f"{room.relative_to(PACKAGE).as_posix()}/{table}"
    own = [one for one in _literals() if one.path.parent == room]
    if "notes.toml" in place.path.name:
        yield [one for one in _literals() if one.value == code]
        yield [one for one in own if _ends(one, table)]
        yield [one for one in _literals() if _ends(one, table)]
        yield [one for one in own if one.value == code.removesuffix(table)]
        return
    if room.name == "refusals":
        yield [one for one in _literals() if _ends(one, table or key)]
        return
    if key not in ("", "text", "one", "fix"):
        yield [one for one in own if _ends(one, f"{table}.{key}")]
        yield [one for one in own if table and one.value.endswith(f"/{table}.")]
        if place.path.name == "texts.toml":
            yield [one for one in own if _ends(one, key)]
            return
    beside = [one for one in own if one.path == place.path.with_suffix(".py")]
    for name in (last, key):
        if name:
            yield [one for one in beside if _ends(one, name)]
            yield [one for one in own if _ends(one, name)]


def _ends(literal: Literal, name: str) -> bool:
    return literal.value.rpartition("/")[2] == name


def _shown(found: list[Literal]) -> list[str]:
    return list(dict.fromkeys(map(str, found)))[:_MOST]


if __name__ == "__main__":
    main()
