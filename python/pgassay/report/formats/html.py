"""The report as one HTML file that needs nothing else.

Enters: the context. Leaves: HTML with its styles, script and drawings inside.
Never: fetches anything, and never lets a name become markup: Jinja escapes the page, `svg.draw` the
drawings, and the page's own policy admits only the script whose digest it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tomllib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pgassay.language import Message, colon, html_code, tr
from pgassay.report.context import AnyContext
from pgassay.report.document.section import Blocks, shown
from pgassay.report.document.text import spans_of
from pgassay.report.inert import shown_lines
from pgassay.report.page import page_of
from pgassay.report.svg.draw import NARROW_PX, WIDE_PX, draw
from pgassay.report.svg.model import Figure
from pgassay.report.tables.chart_data import chart_data
from pgassay.trials.environment.own_commit import commit_words

_NO_BREAK = re.compile(r" (?=%)|(?<=±) ")
"""Spaces between a number and its sign, at which no line breaks."""
_WORDS = {
    "show_all": Message("Show all"),
    "show_or_hide": Message("Show or hide"),
    "contents": Message("Contents"),
    "arrow_keys": Message("Chart: arrow keys show values, plus and minus zoom"),
    "numbers": Message("The numbers of this chart"),
    "complete": Message("This file is complete in itself and loads nothing."),
    "on_paper": Message("On paper a table that was folded is left out: only its title is there."),
    "print_everything": Message("Print everything"),
    "find": Message("Find a table or metric"),
    "found_nothing": Message("Nothing found"),
}
"""What the templates say themselves."""


def render_html(context: AnyContext) -> str:
    """Returns the whole page as HTML."""
    page, made_of = page_of(context), commit_words()
    sections = [(one, html_of(one.blocks)) for one in page.sections]
    script = _asset("charts.js") + _asset("page.js")
    page_text = (
        _templates()
        .get_template("page.html.j2")
        .render(
            page=page,
            language=html_code(),
            sections=sections,
            css=Markup(_asset("style.css")),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            script_digest=_digest(script),
            same_words=json.dumps(tomllib.loads(_asset("same_words.toml")), ensure_ascii=False),
            commit=tr(", commit {commit}", commit=made_of) if made_of else "",
        )
    )
    return shown_lines(page_text)


def html_of(blocks: Blocks) -> Markup:
    """Renders blocks by the macros of blocks.html.j2, which have the names of their classes."""
    macros = _templates().get_template("blocks.html.j2").module
    return Markup("").join(getattr(macros, type(one).__name__)(one) for one in shown(blocks))


def _unbroken(text: str) -> str:
    return _NO_BREAK.sub("\u00a0", text)


def _drawing(figure: Figure, name: str, label: str) -> Markup:
    """The chart drawn twice, for the page and narrower for a phone; style.css shows one."""
    wide = draw(figure, WIDE_PX, f"{name}-w", label)
    narrow = draw(figure, NARROW_PX, f"{name}-n", label)
    return Markup(  # noqa: S704 - `draw` escapes every word
        f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>'
    )


def _digest(script: str) -> str:
    """The name of a script in the page's policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    """One of the page's own files."""
    return (files("pgassay.report") / "templates" / name).read_text("utf-8")


@cache
def _templates() -> Environment:
    """Templates whose values are escaped for HTML."""
    made = Environment(
        loader=PackageLoader("pgassay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "drawing": _drawing,
        "numbers": chart_data,
        "html": html_of,
        "spans": spans_of,
        "unbroken": _unbroken,
    }
    made.globals |= {"words": _WORDS, "colon": colon}
    return made
