"""Text from outside that does nothing where it is shown: in Markdown, in plain text, in a table.

Enters: names, statements, messages, as somebody wrote them. Leaves: text that people read as it
was, without markup, links, mentions of users, control characters or formulas. Never:
changes a number.
"""

from __future__ import annotations

import re
from typing import Any

from pgassay.analysis.reading.plain_text import visible

_SPACES = re.compile(r"[^\S\u202f]+")
"""All but the narrow space inside a number."""
_MARKUP = re.compile(r"([\\`*\[\]|~$])|(?<!\w)(_)|(_)(?!\w)")
_BEGINS_BLOCK = re.compile(r"(?:#{1,6}|[-+=]+)(?=\s|$)")
"""A heading, an item of a list."""
_LINKS = re.compile(
    r"(?<![\w*])@(?=\w)|(?i:\b(?:https?|ftp|mailto|www))(?=[:.])|(?<!&)[#!](?=\d)"
    r"|^/(?=[a-z_]+(?:\s|$))",
    re.MULTILINE,
)
"""What GitHub, GitLab and chats make links of, whom they notify, and GitLab's commands."""
_APART = "\u200b"
"""A space without a width: what it divides is no address, and reads the same."""
_BEGINS_FORMULA = re.compile("\\s*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
"""A text that is a number, such as a setting's -1, is harmless."""


def markdown_line(value: Any) -> str:
    """One line of text that Markdown shows as it is; `max_wal_size` needs no escape."""
    line = visible(_SPACES.sub(" ", str(value)).strip())
    block = _BEGINS_BLOCK.match(line)
    escaped = _MARKUP.sub(lambda match: f"\\{match[0]}", line)
    if block:
        escaped = f"\\{escaped}"
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return unlinked(escaped)


def unlinked(text: str) -> str:
    """Text in which no address is a link, and no name of a user a call to that user."""
    return _LINKS.sub(lambda match: f"{match[0]}{_APART}", text)


def shown_lines(text: str) -> str:
    """Lines with what is invisible written out, but for what `unlinked` has put there."""
    return _APART.join(map(visible, text.replace("\r\n", "\n").split(_APART)))


def csv_cell(text: str) -> str:
    """The text as a spreadsheet shows it: with an apostrophe in front if it begins like a formula
    (OWASP, "CSV injection")."""
    if _BEGINS_FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
