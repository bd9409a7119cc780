"""The constants of a statement as parameters, as pg_stat_statements shows it.

Enters: a text with constants. Leaves: the text with `$n` in their places, and their values. Never:
changes what a constant decides of the statement's form: a position in ORDER BY or GROUP BY, a
type's length, the field of EXTRACT.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pgassay.draw.statements.parsing import (
    Token,
    Unparsable,
    byte_places,
    nodes_named,
    tokens_of,
    tree_in_json,
)
from pgassay.draw.statements.rewriting import Piece, replaced

_CONSTANTS = frozenset({"ICONST", "FCONST", "SCONST", "USCONST", "BCONST", "XCONST"})
_AS_PARAMETER = frozenset({"ICONST", "FCONST", "SCONST", "NULL_P", "TRUE_P", "FALSE_P", "ALL"})
_SIGNS = frozenset({"ASCII_43", "ASCII_45"})
_WITH_CONSTANTS = {"SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"}
_FIXED = {"typeName", "typmods"}
_POSITIONS = {"sortClause", "groupClause", "distinctClause"}


@dataclass(frozen=True, slots=True)
class Normalised:
    """A statement without its constants."""

    text: str
    """With `$n` for each; those after the parameters that the statement had already."""
    first: int
    """The number of the first constant; those before are the statement's own parameters."""
    values: tuple[str | None, ...]
    """The constants in PostgreSQL's text form, None for NULL."""


def without_constants(text: str) -> Normalised:
    """Returns a SELECT, INSERT, UPDATE, DELETE or MERGE with its constants as parameters; anything
    else unchanged. Raises Unparsable.

    Texts of one fingerprint may differ in how many parameters they have (lists).
    """
    tree = tree_in_json(text)
    tokens = tokens_of(text)
    own = [int(token.text[1:]) for token in tokens if token.name == "PARAM"]
    first = max(own, default=0) + 1
    if not tree.keys() & _WITH_CONSTANTS:
        return Normalised(text, first, ())
    at = {token.start: number for number, token in enumerate(tokens)}
    # The tree's places are in bytes.
    place = byte_places(text)
    casts = {
        place[cast["arg"]["A_Const"]["location"]]: place[cast["typeName"].get("location", 0)]
        for cast in nodes_named(tree, "TypeCast")
        if cast["location"] == -1 and "location" in cast["arg"].get("A_Const", {})
    }
    pieces: list[Piece] = []
    values: list[str | None] = []
    for node in sorted(_constants(tree), key=lambda node: int(node["location"])):
        start = place[node["location"]]
        number = at.get(start)
        if number is None or (end := _end_of(tokens, number)) is None:
            continue
        name = f"${first + len(values)}"
        if start in casts:
            name, start = f"{name}::{text[casts[start] : start].strip()}", casts[start]
        pieces.append(Piece(start, end, name))
        values.append(_value(node))
    return Normalised(replaced(text, pieces), first, tuple(values))


def masked(text: str, most: int = 200) -> str:
    """Returns any text with `$n` for each constant, without comments, on one line, cut to `most`
    characters; of a text that cannot be read the first word."""
    try:
        tokens = [one for one in tokens_of(text) if "COMMENT" not in one.name]
    except Unparsable:
        return text.split(maxsplit=1)[0][:most] + " …" if text.strip() else ""
    number = max((int(one.text[1:]) for one in tokens if one.name == "PARAM"), default=0)
    words: list[str] = []
    before = -1
    for token in tokens:
        said = token.text
        if token.name in _CONSTANTS:
            number += 1
            said = f"${number}"
        words.append(said if token.start == before else f" {said}")
        before = token.end
    whole = "".join(words).strip()
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def _end_of(tokens: list[Token], number: int) -> int | None:
    """Where a constant ends that begins with this token; None where it is no constant."""
    token = tokens[number]
    if token.name in _SIGNS and number + 1 < len(tokens):
        token = tokens[number + 1]
    before = [one.name for one in tokens[max(0, number - 2) : number]]
    if token.name not in _AS_PARAMETER or before == ["EXTRACT", "ASCII_40"]:
        return None
    return token.end


def _constants(tree: object, *, position: bool = False) -> Iterator[dict[str, Any]]:
    """The constants that decide values only; `position` where a number is one of a column."""
    if isinstance(tree, list):
        for one in tree:
            yield from _constants(one, position=position)
    elif isinstance(tree, dict):
        for key, child in tree.items():
            if key == "A_Const":
                if not position:
                    yield child
            elif key not in _FIXED:
                of_column = key in _POSITIONS or (position and key in {"SortBy", "node"})
                yield from _constants(child, position=of_column)


def _value(constant: dict[str, Any]) -> str | None:
    """PostgreSQL's text form; the tree leaves out what is zero, empty or false."""
    if "sval" in constant:
        return str(constant["sval"].get("sval", ""))
    if "ival" in constant:
        return str(constant["ival"].get("ival", 0))
    if "boolval" in constant:
        return str(constant["boolval"].get("boolval", False)).lower()
    return None if constant.get("isnull") else str(constant["fval"]["fval"])
