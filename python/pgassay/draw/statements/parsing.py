"""The parser: a statement's tree, its tokens and its fingerprint.

Enters: a text as a client sent it or as the server shows it. Leaves: a tree, tokens, a fingerprint.
Never: executes anything, or repeats a text in an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pgassay.refusals.refusal import SetupRefused

try:
    import pglast
    from pglast import parser
except ImportError:  # the extra `draw`, 33 MB
    raise SetupRefused("no-draw-extra") from None

ast: Any = pglast.ast
"""The classes of nodes, whose types allow None for fields that the grammar always fills."""
Node = Any
"""A node of pglast's tree. Its places count characters."""


class Token(NamedTuple):
    """A word, sign or constant of a text."""

    name: str
    """The grammar's: IDENT, SCONST, ICONST, FCONST, PARAM, C_COMMENT; ASCII_44 for a comma."""
    text: str
    start: int
    """In characters, as `end`."""
    end: int
    """That of the first character after it."""


COMMENTS = frozenset({"C_COMMENT", "SQL_COMMENT"})
_LONGEST = 1 << 20
"""Characters of a text."""
_MOST_NESTED = 16_384
"""Tokens that may hang on each other. The parser recurses without a limit of its own: twice as many
operators end the process."""
_DEEPEST = 200
"""Levels of a tree, which all that walk it have the stack for."""


class Unparsable(ValueError):
    """A text that is no statement (cut, or of another language), too long, or nested too deeply."""


def fingerprint(text: str) -> str:
    """Returns libpg_query's fingerprint of a text, 16 hexadecimal digits.

    It is the same whatever the constants, the number of elements of an IN list and of rows of
    VALUES are. Raises Unparsable.
    """
    try:
        return str(parser.fingerprint(text))
    except parser.ParseError:
        raise Unparsable from None


def parsed(text: str) -> Node:
    """Returns the tree of the one statement of a text; raises Unparsable, also for several."""
    _refuse_deep(text)
    try:
        statements = parser.parse_sql(text)
    except (parser.ParseError, RecursionError, ValueError):
        raise Unparsable from None
    if len(statements) != 1 or _is_deep(statements[0].stmt):
        raise Unparsable
    return statements[0].stmt


def _refuse_deep(text: str) -> None:
    """Raises Unparsable for a text that may be too much for the parser: as deep as it has tokens
    without a comma between them, in brackets within brackets, as no list of rows has."""
    if len(text) > _LONGEST:
        raise Unparsable
    if len(text) < 2 * _MOST_NESTED:
        return
    run, above, deepest = 0, [0], 0
    for token in tokens_of(text):
        run += 1
        if token.text in ("(", "["):
            above.append(above[-1] + run)
            run = 0
        elif token.text in (")", "]") and above[1:]:
            run = above.pop() - above[-1]
        elif token.text == ",":
            run = 0
        deepest = max(deepest, above[-1] + run)
    if deepest > _MOST_NESTED:
        raise Unparsable


def _is_deep(tree: Node) -> bool:
    level = [tree]
    for _ in range(_DEEPEST):
        level = [child for one in level for child in _hanging_on(one)]
    return bool(level)


def _hanging_on(node: Node) -> Iterator[Node]:
    if not isinstance(node, tuple):
        return children(node)
    # A function in FROM is a tuple with None where it has no list of columns.
    return (one for one in node if isinstance(one, ast.Node | tuple))


def tree_in_json(text: str) -> dict[str, Any]:
    """Returns the one statement of a text as nested objects, whose `location`, unlike the nodes of
    `parsed`, constants have, in bytes of UTF-8; raises Unparsable."""
    _refuse_deep(text)
    try:
        statements = json.loads(parser.parse_sql_json(text))["stmts"]
    except (parser.ParseError, RecursionError, ValueError):
        raise Unparsable from None
    if len(statements) != 1:
        raise Unparsable
    found: dict[str, Any] = statements[0]["stmt"]
    return found


def nodes_named(tree: object, name: str) -> Iterator[dict[str, Any]]:
    """Yields the nodes of this kind in a tree of `tree_in_json`."""
    for key, child in tree.items() if isinstance(tree, dict) else ():
        if key == name:
            yield child
        yield from nodes_named(child, name)
    for child in tree if isinstance(tree, list) else ():
        yield from nodes_named(child, name)


def byte_places(text: str) -> Sequence[int]:
    """Returns, for each place in bytes of UTF-8 at which a character begins, that in characters."""
    if text.isascii():
        return range(len(text) + 1)
    places: list[int] = []
    for number, letter in enumerate(text):
        places += [number] * len(letter.encode())
    return [*places, len(text)]


def tokens_of(text: str) -> list[Token]:
    """Returns the tokens of a text in their order, comments too; raises Unparsable."""
    try:
        found = parser.scan(text)
    except (parser.ParseError, ValueError):
        raise Unparsable from None
    return [Token(one.name, text[one.start : one.end + 1], one.start, one.end + 1) for one in found]


def nodes_below(node: Node) -> Iterator[Node]:
    """Yields a node and all below it, in the order of the grammar; of a tuple those of its
    elements."""
    if isinstance(node, tuple):
        for one in node:
            yield from nodes_below(one)
    elif isinstance(node, ast.Node):
        yield node
        for child in children(node):
            yield from nodes_below(child)


def children(node: Node) -> Iterator[Node]:
    """Yields the nodes, and tuples of nodes, that hang directly on a node."""
    for name in node:
        child = getattr(node, name)
        if isinstance(child, ast.Node | tuple):
            yield child
