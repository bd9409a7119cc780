"""How wide words are, and words that fit.

Enters: words as users wrote them. Leaves: widths in pixels, shorter or wrapped words, SVG words.
Never: knows the reader's font: widths are those of common sans-serif fonts, a little generous.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape

_NARROW, _WIDE = frozenset("ijltfrI.,:;|!'()[]/ ·-\u202f\u2009\u00a0"), frozenset("mwMW%@—…")
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def width_of(words: str, size: float, bold: bool = False) -> float:
    """Pixels that the words take in type of this size."""
    return size * sum(map(_share, str(words))) * (1.06 if bold else 1.0)


def shortened(words: str, size: float, most_px: float, bold: bool = False) -> str:
    """Cuts words with an ellipsis where they are wider than that (px)."""
    words = str(words)
    if width_of(words, size, bold) <= most_px:
        return words
    while words and width_of(words + "…", size, bold) > most_px:
        words = words[:-1]
    return words.rstrip() + "…"


def wrapped(words: str, size: float, most_px: float) -> list[str]:
    """Breaks words into lines, none wider than that (px) if its words allow."""
    lines: list[str] = []
    for word in str(words).split(" "):
        if lines and width_of(f"{lines[-1]} {word}", size) <= most_px:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [line for line in lines if line]


def inert(words: str) -> str:
    """Escapes words as text or attribute of SVG and HTML: no markup, and nothing that XML
    forbids."""
    return escape(_NOT_IN_XML.sub("\ufffd", str(words))).replace("\n", "&#10;")


def _share(character: str) -> float:
    """Width as a share of the size of the type."""
    if character in _NARROW:
        return 0.31
    if character in _WIDE:
        return 0.9
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.combining(character):
        return 0.0
    return 0.68 if character.isupper() else 0.56
