"""The report as Markdown, to paste into a mail or a pull request.

Enters: the context. Leaves: Markdown that reads well as plain text.
Never: draws; the HTML report does.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pgassay.findings.model import FindingKind
from pgassay.report import further_tables, tables
from pgassay.report.context import ReportContext
from pgassay.report.environment import environment_sections
from pgassay.report.factorial import factorial_of
from pgassay.report.headline import facts, headlines
from pgassay.report.logged import logged_rows
from pgassay.report.servers import server_table

_MARKUP = re.compile(r"([\\`*\[\]|~])|(?<!\w)(_)|(_)(?!\w)")


def render_markdown(context: ReportContext) -> str:
    """The whole text."""
    text = (
        markdown_environment()
        .get_template("report.md.j2")
        .render(
            context=context,
            headlines=headlines(context),
            facts=facts(context),
            arms=context.analysis.arms,
            verdicts=tables.verdict_rows(context),
            factorial=factorial_of(context),
            patterns=tables.pattern_sentences(context),
            differences=tables.difference_rows(context),
            arm_rows=tables.arm_rows(context),
            calibration=context.of_kind(FindingKind.CALIBRATION),
            observed=further_tables.sentences(context),
            load_rows=further_tables.load_rows(context),
            logged=logged_rows(context),
            variants=tables.variant_rows(context),
            carry_over=further_tables.carry_over_rows(context),
            warnings=tables.warning_groups(context),
            sections=environment_sections(context.environment),
            servers=server_table(context.environment),
            fence=_fence(context.spec_text + context.command),
        )
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _literal(value: Any) -> str:
    """One line of text that Markdown shows as it is; `max_wal_size` needs no escape."""
    line = " ".join(str(value).split())
    escaped = _MARKUP.sub(lambda match: f"\\{match[0]}", line)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _fence(text: str) -> str:
    """More backticks than any run of them inside."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


@cache
def markdown_environment() -> Environment:
    """Templates with `literal`, which escapes for Markdown."""
    environment = Environment(
        loader=PackageLoader("pgassay.report"),
        autoescape=False,  # noqa: S701 - Markdown, not HTML; `literal` escapes for it
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["literal"] = _literal
    return environment
