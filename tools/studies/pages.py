"""Make the page of a study.

Enters: study.toml, and the kept run if there is one. Leaves: the text of docs/studies/NAME.md.
Never: analyses; what a run says was said when it was kept.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from tools.studies.host_figures import COLUMNS
from tools.studies.kept import RESULTS

from pgassay.plan.description import time_range
from pgassay.plan.design import make_plan
from pgassay.studies.catalogue import Form, Study

PAGES = RESULTS.parent
_TEMPLATE = "page.md.j2"


def page(study: Study) -> str:
    """The whole page."""
    environment = Environment(  # noqa: S701 - Markdown of our own texts
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["flowing"] = _flowing
    return environment.get_template(_TEMPLATE).render(
        study=study.texts,
        name=study.name,
        quick=study.experiment(Form.QUICK),
        takes=time_range(make_plan(study.spec(Form.QUICK))),
        kept=_kept(study.name),
        rounded=_rounded,
        hit_ratio=_hit_ratio,
        host_columns=COLUMNS,
    )


def _kept(name: str) -> dict[str, Any] | None:
    file = RESULTS / f"{name}.json"
    if not file.is_file():
        return None
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def _rounded(value: float | None) -> str:
    """Three significant digits; a dash where it was not measured."""
    if value is None:
        return "–"
    return f"{value:,.0f}".replace(",", "\u202f") if abs(value) >= 100 else f"{value:.3g}"


def _hit_ratio(arm: dict[str, Any]) -> str:
    hit, read = arm["blocks_hit_per_tx"], arm["blocks_read_per_tx"]
    if hit is None or read is None or hit + read == 0:
        return "–"
    return f"{100 * hit / (hit + read):.1f}"


def _flowing(text: str) -> str:
    """As one line; no-break spaces stay."""
    return re.sub(r"[ \n]+", " ", text.strip())
