"""A statement's text as a server prepares it and as a script has it.

Enters: a text with `$n`. Leaves: the text in which the server accepts each `$n`; the text with
`:name`. Never: changes what the statement does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pgassay.draw.statements.parsing import (
    COMMENTS,
    Node,
    Token,
    ast,
    nodes_below,
    parsed,
    tokens_of,
)


class Piece(NamedTuple):
    """A stretch of a text, in characters, and what stands there instead."""

    start: int
    end: int
    text: str


def replaced(text: str, pieces: Iterable[Piece]) -> str:
    """Returns the text with each piece put in; they must not overlap."""
    parts: list[str] = []
    at = 0
    for piece in sorted(pieces):
        parts += (text[at : piece.start], piece.text)
        at = piece.end
    return "".join((*parts, text[at:]))


def without_comments(text: str) -> str:
    """Returns a text without what clients add to it, such as the ids of their requests; hints and
    the mark of a shortened list stay. Raises Unparsable."""
    pieces = [Piece(one.start, one.end, " ") for one in tokens_of(text) if _is_comment(one)]
    return replaced(text, pieces).strip()


def preparable(text: str, extract: str = "extract") -> str:
    """Returns a text of pg_stat_statements as a server takes it in PREPARE; raises Unparsable.

    `interval $1` becomes `$1::interval`, `extract($1 FROM x)` becomes `pg_catalog.extract($1, x)`,
    or what the server has instead of that function (date_part before 14).
    Comments and a semicolon at the end go, but for hints (`/*+ … */`).
    """
    casts = _typed_before(parsed(text))
    tokens = tokens_of(text)
    pieces: list[Piece] = []
    for number, token in enumerate(tokens):
        if _is_comment(token):
            pieces.append(Piece(token.start, token.end, " "))
        elif token.name == "PARAM" and token.start in casts:
            start = casts[token.start]
            kind = text[start : token.start].strip()
            pieces.append(Piece(start, token.end, f"{token.text}::{kind}"))
        elif [one.name for one in tokens[number : number + 4]] == [
            "EXTRACT",
            "ASCII_40",
            "PARAM",
            "FROM",
        ]:
            pieces.append(Piece(token.start, token.end, f"pg_catalog.{extract}"))
            comma = tokens[number + 3]
            pieces.append(Piece(comma.start, comma.end, ","))
    return replaced(text, pieces).strip().rstrip(";").rstrip()


SQUASHED = "/*, ... */"
"""What PostgreSQL 18 writes after the first element of a list."""


def unsquashed(text: str, elements: int) -> tuple[str, int]:
    """Returns a text whose shortened lists (`$1 /*, ... */`, PostgreSQL 18) have this many
    elements, and how many lists there were; the new parameters have numbers after all others."""
    if SQUASHED not in text:
        return text, 0
    tokens = tokens_of(text)
    highest = max((int(one.text[1:]) for one in tokens if one.name == "PARAM"), default=0)
    pieces: list[Piece] = []
    for token in tokens:
        if token.name == "C_COMMENT" and token.text == SQUASHED:
            more = "".join(f", ${highest + one}" for one in range(1, elements))
            highest += elements - 1
            pieces.append(Piece(token.start, token.end, more))
    return replaced(text, pieces), len(pieces)


def with_names(text: str, names: Mapping[int, str]) -> str:
    """Returns a text with `:name` for each `$n`, such that a script means the same.

    A parameter after `[` or `:` stands in parentheses; after `-`, behind a space, since the simple
    protocol puts in a number that may have a sign. A `:` of an array's slice is kept apart from a
    word after it.
    """
    tokens = tokens_of(text)
    pieces: list[Piece] = []
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        if token.name == "PARAM":
            name = f":{names[int(token.text[1:])]}"
            if before is not None and before.text in ("[", ":"):
                name = f"({name})"
            elif before is not None and before.text == "-" and before.end == token.start:
                name = f" {name}"
            pieces.append(Piece(token.start, token.end, name))
        elif before is not None and before.text == ":" and before.end == token.start:
            pieces.append(Piece(token.start, token.start, " "))
    return replaced(text, pieces)


def _is_comment(token: Token) -> bool:
    kept = token.text == SQUASHED or token.text.startswith("/*+")
    return token.name in COMMENTS and not kept


def _typed_before(tree: Node) -> dict[int, int]:
    """Where each parameter with its type before it (`date $1`) begins, and where its type does."""
    casts = [one for one in nodes_below(tree) if isinstance(one, ast.TypeCast)]
    return {
        cast.arg.location or 0: cast.typeName.location or 0
        for cast in casts
        if isinstance(cast.arg, ast.ParamRef) and cast.location is None and cast.typeName
    }
