"""Make the page of a study.

Enters: study.toml, and the kept run if there is one. Leaves: the text of docs/studies/NAME.md.
Never: analyses; what a run says was said when it was kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
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
_HIT_RATIO = "hit_ratio"
ARM_COLUMNS = {
    "tps": "tps",
    "latency_mean": "mean latency, ms",
    "latency_p99": "p99, ms",
    "wal_bytes_per_tx": "WAL, bytes/tx",
    "wal_fpi_per_tx": "full-page images/tx",
    _HIT_RATIO: "hit ratio, %",
    "blocks_read_per_tx": "blocks read/tx",
    "server_cpu_ms_per_tx": "server CPU, ms/tx",
}
"""Means over an arm's trials that a page shows, and the heads of their columns."""


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
        kept=_kept(study.name, "json"),
        traced=_kept(study.name, "traced"),
        rounded=_rounded,
        table=_table,
        arm_columns=ARM_COLUMNS,
        host_columns=COLUMNS,
    )


def _kept(name: str, ending: str) -> dict[str, Any] | None:
    file = RESULTS / f"{name}.{ending}"
    if not file.is_file():
        return None
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def _rounded(value: float | None) -> str:
    """Three significant digits; a dash where it was not measured."""
    if value is None:
        return "–"
    return f"{value:,.0f}".replace(",", "\u202f") if abs(value) >= 100 else f"{value:.3g}"


def _table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """One row for each arm; without columns of which no arm has a figure."""
    rows = [{**row, _HIT_RATIO: _hit_ratio(row)} for row in rows]
    known = {name: head for name, head in columns.items() if any(_has(row, name) for row in rows)}
    lines = [["arm", "trials", *known.values()], ["---"] * (2 + len(known))]
    for row in rows:
        figures = [_rounded(row.get(name)) for name in known]
        lines.append([row["label"], str(row["trials"]), *figures])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _has(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) is not None


def _hit_ratio(row: Mapping[str, Any]) -> float | None:
    hit, read = row.get("blocks_hit_per_tx"), row.get("blocks_read_per_tx")
    if hit is None or read is None or hit + read == 0:
        return None
    return 100.0 * float(hit) / float(hit + read)


def _flowing(text: str) -> str:
    """As one line; no-break spaces stay."""
    return re.sub(r"[ \n]+", " ", text.strip())
