"""The report as Markdown, to paste into a mail or a pull request.

Enters: the context. Leaves: Markdown that reads well as plain text.
Never: draws; the HTML report does.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment

from pgassay.report.page import AnyContext, page_of
from pgassay.report.templating import new_environment

_SPACES = re.compile(r"[^\S\u202f]+")
"""All but the narrow space inside a number."""
_MARKUP = re.compile(r"([\\`*\[\]|~])|(?<!\w)(_)|(_)(?!\w)")


def render_markdown(context: AnyContext) -> str:
    """The whole text; a section without any text is left out."""
    page, templates = page_of(context, "md"), _templates()
    parts = [templates.get_template("page.md.j2").render(page=page)]
    for section, content in page.sections:
        body = templates.get_template(section.template("md")).render(**page.shared, **content)
        if body.strip():
            parts.append(f"## {_literal(section.title)}\n\n{body}")
    text = "\n\n".join(parts)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _literal(value: Any) -> str:
    """One line of text that Markdown shows as it is; `max_wal_size` needs no escape."""
    line = _SPACES.sub(" ", str(value)).strip()
    escaped = _MARKUP.sub(lambda match: f"\\{match[0]}", line)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _fence(text: str) -> str:
    """A fence for a code block: more backticks than the text has in a row."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


@cache
def _templates() -> Environment:
    """Templates with `literal`, which escapes for Markdown."""
    return new_environment("md", {"literal": _literal, "fence": _fence})
