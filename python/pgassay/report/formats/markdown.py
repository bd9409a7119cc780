"""The report as Markdown, to paste into a mail or a pull request.

Enters: the context. Leaves: Markdown that reads well as plain text, and on request its charts as
SVG files. Never: writes a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote

from jinja2 import Environment

from pgassay.report.charts.style import ArmStyle, arm_styles, side_styles
from pgassay.report.context import ApartContext
from pgassay.report.inert import markdown_line, shown_lines
from pgassay.report.page import AnyContext, page_of
from pgassay.report.section import Content, Section
from pgassay.report.svg.draw import WIDE_PX, draw
from pgassay.report.svg.model import Figure
from pgassay.report.templating import new_environment

_AROUND_PX = 16
"""White around a picture, which may stand on a dark page."""


@dataclass
class Pictures:
    """The charts of a report as SVG files beside its Markdown, collected while it is rendered."""

    stem: str
    """What their names begin with."""
    arms: Sequence[tuple[str, str]] = ()
    """Names and colours of the key."""
    files: dict[str, str] = field(default_factory=dict)
    """Name → SVG."""

    def of(self, section: Section, content: Content) -> str:
        """Links to the charts of a section."""
        links = []
        for part, figure in content.items():
            if isinstance(figure, Figure):
                name = f"{self.stem}-{section.anchor}{'' if part == 'chart' else f'-{part}'}.svg"
                title = section.title
                key = self.arms if figure.has_arms else ()
                self.files[name] = draw(figure, WIDE_PX, section.anchor, title, key, _AROUND_PX)
                links.append(f"![{markdown_line(title)}]({quote(name)})\n\n")
        return "".join(links)


def render_markdown(context: AnyContext, pictures: Pictures | None = None) -> str:
    """The whole text; a section without any text and picture is left out."""
    page, templates = page_of(context, "html" if pictures else "md"), _templates()
    parts = [templates.get_template("page.md.j2").render(page=page)]
    for section, content in page.sections:
        body = pictures.of(section, content) if pictures else ""
        if section.is_in("md"):
            template = templates.get_template(section.template("md"))
            body += template.render(**page.shared, **content)
        if body.strip():
            parts.append(f"## {markdown_line(section.title)}\n\n{body}")
    text = "\n\n".join(parts)
    return re.sub(r"\n{3,}", "\n\n", shown_lines(text)).strip() + "\n"


def illustrated_markdown(context: AnyContext, stem: str) -> tuple[str, dict[str, str]]:
    """The text with links to its charts, and these as SVG files by their names."""
    pictures = Pictures(stem, [(one.short, one.colour) for one in _styles_of(context)])
    return render_markdown(context, pictures), pictures.files


def _styles_of(context: AnyContext) -> Iterable[ArmStyle]:
    """Of what the key names: arms, or the sides of a comparison; where there are several."""
    if isinstance(context, ApartContext):
        return side_styles(side.name for side in context.analysis.sides).values()
    plan = getattr(context, "plan", None)
    return arm_styles(plan.arms).values() if plan is not None and len(plan.arms) > 1 else ()


def _fence(text: str) -> str:
    """A fence for a code block: more backticks than the text has in a row."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


@cache
def _templates() -> Environment:
    """Templates with `literal`, which escapes for Markdown."""
    return new_environment("md", {"literal": markdown_line, "fence": _fence})
