"""Names and statements of others as text that shows what it holds.

Enters: text from a server. Leaves: the same, with what is invisible or turns the direction of
writing written out. Never: escapes for HTML or Markdown; the formats do.
"""

from __future__ import annotations

import unicodedata

_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
_NO_CHARACTERS = "\ufffe\uffff"
"""XML forbids them."""


def visible(text: str) -> str:
    """Control and formatting characters as `\\u202e`; line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{ord(one):04x}" if _is_hidden(one) else one for one in text)


def _is_hidden(one: str) -> bool:
    if one in "\n\t":
        return False
    return unicodedata.category(one) in _HIDDEN or one in _NO_CHARACTERS


def one_line(text: str, most: int) -> str:
    """Returns a text in one line of at most so many characters."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"
