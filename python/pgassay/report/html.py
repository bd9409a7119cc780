"""The report as one HTML file that needs nothing else.

Enters: the context. Leaves: HTML with its styles, scripts and data inside.
Never: fetches anything, and never lets a name become markup: Jinja escapes the page, `chart_data`
the chart data, `plain` the chart texts, and the page's own policy admits only the two scripts whose
digests it names.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

import plotly.graph_objects as go
from jinja2 import Environment
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from pgassay.report.context import ObservationContext, ReportContext, TraceContext
from pgassay.report.page import page_of
from pgassay.report.templating import new_environment


def render_html(context: ReportContext | ObservationContext | TraceContext) -> str:
    """The whole page."""
    page, templates = page_of(context, "html"), _templates()
    sections = [
        (
            section,
            Markup(  # noqa: S704 - made by Jinja, which escapes
                templates.get_template(section.template("html")).render(**page.shared, **content)
            ),
        )
        for section, content in page.sections
    ]
    plotly, start = get_plotlyjs(), _asset("charts.js")
    return templates.get_template("page.html.j2").render(
        page=page,
        sections=sections,
        css=Markup(_asset("style.css")),  # noqa: S704 - our own file
        scripts=[Markup(plotly), Markup(start)],  # noqa: S704 - the library's file, and our own
        script_digests=(_digest(plotly), _digest(start)),
    )


def _chart_data(figure: go.Figure) -> Markup:
    """JSON that cannot end its script element, whatever the names in it."""
    text = figure.to_json(validate=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - escaped just above


def _digest(script: str) -> str:
    """The name of a script in the page's policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    """One of the page's own files."""
    return (files(__package__) / "templates" / name).read_text("utf-8")


@cache
def _templates() -> Environment:
    """Templates whose values are escaped for HTML."""
    return new_environment("html", {"chart_data": _chart_data})
