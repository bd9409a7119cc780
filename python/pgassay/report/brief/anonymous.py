"""The parts of a brief without what names a machine, a user or a customer.

Enters: the blocks of a part, and names that are known. Leaves: lines without constants of
statements, paths, addresses, servers' names and settings that hold such. Never: removes a figure,
or a name of a table, column or setting, without which nothing could be said of the run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from pgassay.report.brief.fitting import texts
from pgassay.report.brief.plain import Part, plain_lines
from pgassay.report.document.blocks import Block, Code, Facts, Fold, Group
from pgassay.report.document.table import Row, Table
from pgassay.report.document.text import plain_text

_CONSTANT = re.compile(
    r"""(?ix) /\*.*?(?:\*/|$) | --[^\n]* | \$(\w*)\$.*?(?:\$\1\$|$) | '(?:[^']|'')*'?
    | (?<![\w$:.])\d+(?:\.\d+)?"""
)
"""Comments, quoted texts, also those that were cut, and numbers; not `$1` nor the digits of a
name."""
_PLACES = (
    (re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE), "(address)"),
    (re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])(?::\d+)?"), "(address)"),
    (re.compile(r"(?<![\w/.])(?!/(?:proc|sys)/)(?:/[\w.@+-]+){2,}/?"), "(path)"),
)
_HIDDEN = "(hidden)"
_SHORTEST = 3
"""Characters of a name that is looked for; shorter ones would be found inside words."""


def anonymous_lines(part: Part, names: Collection[str]) -> list[str]:
    """Returns the lines of a part; `names` are those of servers and directories."""
    lines = plain_lines(one if isinstance(one, str) else _block(one) for one in part)
    return [_without_places(line, names) for line in lines]


def names_in(given: Mapping[str, Any]) -> Iterator[str]:
    """Yields the paths that a stored environment names, the longest texts first."""
    found = {text for text in _texts(given) if text.startswith("/") and len(text) > _SHORTEST}
    yield from sorted(found, key=len, reverse=True)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for inner in value.values():
                yield from _texts(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts(inner)


def _without_places(line: str, names: Iterable[str]) -> str:
    for name in names:
        if len(name) >= _SHORTEST:
            line = line.replace(name, _HIDDEN)
    for pattern, word in _PLACES:
        line = pattern.sub(word, line)
    return line


def _block(block: Block | None) -> Block | None:
    match block:
        case Table():
            return replace(block, rows=tuple(map(_row, block.rows)))
        case Code(language="sql"):
            return replace(block, text=_without_constants(block.text))
        case Facts():
            rows = [(name, value) for name, value in block.rows if not _is_hidden(name)]
            return replace(block, rows=rows)
        case Group() | Fold():
            return replace(block, blocks=[_block(one) for one in block.blocks])
        case _:
            return block


def _row(row: Row) -> Row:
    cells = (
        replace(cell, text=_without_constants(plain_text(cell.text)))
        if "code" in cell.style.split()
        else cell
        for cell in row.cells
    )
    return replace(row, cells=tuple(cells))


def _without_constants(statement: str) -> str:
    return _CONSTANT.sub("?", statement)


def _is_hidden(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in texts()["hidden_settings"])
