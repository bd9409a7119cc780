"""Texts that a spreadsheet would take for formulas.

Enters: the text of a cell. Leaves: it, with an apostrophe in front if it begins like a formula
(OWASP, "CSV injection"). Never: changes a number.
"""

from __future__ import annotations

import re

_BEGINS_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
"""A text that is a number, such as a setting's -1, is harmless."""


def inert(text: str) -> str:
    """The text as a spreadsheet shows it."""
    if _BEGINS_FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
