"""The report of an observation: what went on, and no verdict.

Enters: what was observed, where. Leaves: HTML, Markdown or JSON.
Never: computes beyond shares and units, or says why.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any, Literal

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from pgassay.report import observation_tables as tables
from pgassay.report.charts.observed import observed_charts
from pgassay.report.environment import environment_sections, server_version
from pgassay.report.host_tables import host_tables_over_time
from pgassay.report.html import asset, chart_data, digest, page_environment
from pgassay.report.machine import finite
from pgassay.report.markdown import markdown_environment
from pgassay.report.observation_tables import ObservationContext

SCHEMA = "pgassay.observed/1"


def render_observation(context: ObservationContext, form: Literal["html", "md"]) -> str:
    """The whole page."""
    observed = context.observed
    parts = {
        "context": context,
        "observed": observed,
        "facts": tables.facts(context),
        "classes": tables.class_rows(observed),
        "events": tables.event_rows(observed),
        "checkpoints": tables.checkpoint_rows(observed),
        "logged": tables.logged_rows(observed),
        "statements": tables.statement_rows(observed),
        "hosts": host_tables_over_time(observed.host_windows, observed.host),
        "gaps": tables.gap_rows(observed),
        "doubts": tables.doubts(context),
        "sections": environment_sections(context.environment),
    }
    if form == "md":
        text = markdown_environment().get_template("observation.md.j2").render(**parts)
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
    plotly, start = get_plotlyjs(), asset("charts.js")
    figures = observed_charts(observed)
    return (
        page_environment()
        .get_template("observation.html.j2")
        .render(
            **parts,
            charts={name: chart_data(figure) for name, figure in figures.items()},
            server_version=server_version(context.environment),
            css=Markup(asset("style.css")),  # noqa: S704 - our own file
            plotly=Markup(plotly),  # noqa: S704 - the library's own file
            start=Markup(start),  # noqa: S704 - our own file
            script_digests=(digest(plotly), digest(start)),
        )
    )


def render_object(context: ObservationContext) -> str:
    """JSON with everything, courses among it."""
    described = {name: value for name, value in context.described.items() if name != "schema"}
    value = {
        "schema": SCHEMA,
        "run": context.run_name,
        **described,
        "pgassay": context.version,
        **asdict(context.observed),
        "environment": dict(context.environment),
    }
    return json.dumps(finite(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def summary_object(run: str, context: ObservationContext) -> dict[str, Any]:
    """The object of `pgassay observe --json`: no courses."""
    observed, described = context.observed, context.described
    found: dict[str, Any] = finite(
        {
            "schema": SCHEMA,
            "run": run,
            "server": described.get("server"),
            "seconds": observed.seconds,
            "ended_by": described.get("ended_by"),
            "commits": observed.commits,
            "averages": observed.averages,
            "largest": observed.largest,
            "unknown": {name: asdict(one) for name, one in observed.unknown.items()},
            "active_sessions": observed.active_sessions,
            "classes": observed.classes,
            "events": observed.events,
            "sampled_waits": observed.sampled_waits,
            "checkpoints": len(observed.checkpoints),
            "logged": observed.logged,
            "host": None if observed.host is None else asdict(observed.host),
            "gaps_s": [(end - start) / 1e9 for start, end in observed.gaps_ns],
            "dropped_segments": described.get("dropped_segments", 0),
            "sampler_cost": observed.cost,
            "clock": observed.clock,
            "warnings": tables.doubts(context),
            "not_seen": list(context.environment.get("not_seen") or []),
        }
    )
    return found
