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
    return text.translate(_WRITTEN)


class _Written(dict[int, str]):
    """Code of a character → how it is written; each is looked up once, since a report has many."""

    def __missing__(self, code: int) -> str:
        one = chr(code)
        hidden = unicodedata.category(one) in _HIDDEN or one in _NO_CHARACTERS
        found = f"\\u{code:04x}" if hidden and one not in "\n\t" else one
        return self.setdefault(code, found)


_WRITTEN = _Written()


def one_line(text: str, most: int) -> str:
    """Returns a text in one line of at most so many characters."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"
