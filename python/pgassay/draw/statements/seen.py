"""Constants of a statement, in a text that a session showed.

Enters: the text of pg_stat_statements, in which constants are parameters, and the client's own.
Leaves: the constants by the number of the parameter. Never: shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pgassay.draw.statements.constants import without_constants
from pgassay.draw.statements.parsing import COMMENTS, Token, Unparsable, tokens_of
from pgassay.draw.statements.rewriting import SQUASHED

_SIGNS = ("-", "+")


@dataclass(slots=True)
class Seen:
    """What one text of a client shows of a statement."""

    values: dict[int, str | None] = field(default_factory=dict)
    """Constants in PostgreSQL's text form, None for NULL."""
    mixed: bool = False
    """Whether it has parameters of its own: its constants are part of the program then."""
    elements: list[int] = field(default_factory=list)
    """Of lists that the server shortens."""


def seen_in(known: str, text: str) -> Seen | None:
    """Returns what a client's text shows of a statement whose constants are parameters in `known`;
    None where it is another statement, or cut."""
    try:
        parameters = _tokens(known)
        given = _tokens(text)
        found = Seen()
        at = 0
        for token in parameters:
            if token.text == SQUASHED:
                start = at
                while _text(given, at) == ",":
                    at += 1 + _length(given, at + 1)
                found.elements.append(1 + sum(one.text == "," for one in given[start:at]))
            elif token.name == "PARAM":
                length = _length(given, at)
                one = given[at]
                if one.name == "PARAM":
                    found.mixed = True
                else:
                    constant = "".join(piece.text for piece in given[at : at + length])
                    found.values[int(token.text[1:])] = _value(constant)
                at += length
            elif token.text.lower() == _text(given, at).lower():
                at += 1
            else:
                return None
    except (Unparsable, IndexError):
        return None
    return found if len(given) - at <= (_text(given, at) == ";") else None


def _tokens(text: str) -> list[Token]:
    """Those of a text without comments but for that of a shortened list."""
    return [one for one in tokens_of(text) if one.name not in COMMENTS or one.text == SQUASHED]


def _text(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if at < len(tokens) else ""


def _length(tokens: Sequence[Token], at: int) -> int:
    """Tokens of the constant there: two with a sign."""
    return 2 if _text(tokens, at) in _SIGNS else 1


def _value(constant: str) -> str | None:
    """A constant's value; of a word, such as the field of EXTRACT, itself."""
    values = without_constants(f"SELECT {constant}").values
    return values[0] if values else constant
