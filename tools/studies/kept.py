"""What is kept of a study's run: the object that its page is made of, and the brief.

Enters: a study, a stored run. Leaves: NAME.json and NAME.txt in docs/studies/results.
Never: has a path or a name of the machine of the run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pgassay.errors import SetupError
from pgassay.findings.model import Finding, FindingKind
from pgassay.report.brief.render import render_brief
from pgassay.report.context import ReportContext
from pgassay.report.environment import created_at, server_version
from pgassay.report.objects.run import run_object
from pgassay.samples.run_directory import RunDirectory
from pgassay.stored_notes import coded
from pgassay.studies.catalogue import Form, Study
from pgassay.workflows.reporting import analyse_run

RESULTS = Path(__file__).parents[2] / "docs" / "studies" / "results"
SHOWN = {
    "answer": (FindingKind.VERDICT, FindingKind.INTERACTION, FindingKind.TREND),
    "reasons": (FindingKind.EXPLANATION, FindingKind.DIAGNOSIS),
    "caveats": (FindingKind.WARNING,),
}
FIGURES = (
    "tps", "latency_mean", "latency_p99", "wal_bytes_per_tx", "wal_fpi_per_tx",
    "blocks_hit_per_tx", "blocks_read_per_tx", "server_cpu_ms_per_tx",
)  # fmt: skip
"""Means over an arm's trials that a page has a column for."""
HOST_FIGURES = {
    "us": "us", "sy": "sy", "wa": "wa", "dirty": "dirty", "slab": "slab", "reads": "r/s",
    "writes": "w/s", "r_await": "r_await", "w_await": "w_await", "util": "%util",
}  # fmt: skip
"""Figures of the host, those of a disk of that of the data, by their column."""
_PAGE_KB = 4
"""Of the machines that studies are run on."""
CHANGES = {
    f"findings/answer/explanations/difference.{known}" for known in ("share_known", "share_unknown")
}
"""Codes of claims that are figures alone."""
_SERVER = re.compile(r"(?:/[\w.@+-]+)+/run-[0-9a-f]{12}")
"""The folder of a server that pgassay started."""


def keep(study: Study, path: Path) -> None:
    """Analyse the run anew and keep what the page needs."""
    run = RunDirectory.open(path)
    context = replace(analyse_run(run), run_name=study.name)
    if context.question != study.texts.question:
        raise SetupError(f"{path}: asks {context.question!r}, which is not {study.name}'s question")
    found = kept_of(study, context)
    made = as_text(found)
    RESULTS.mkdir(exist_ok=True)
    for ending, text in (("json", made), ("txt", render_brief(context))):
        file = RESULTS / f"{study.name}.{ending}"
        file.write_text(_scrubbed(text, path, study.name), "utf-8")
        print(f"{file.relative_to(RESULTS.parents[2])}: {file.stat().st_size / 1000:.0f} kB")


def as_text(found: Mapping[str, Any]) -> str:
    """The text of a kept object."""
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def kept_of(study: Study, context: ReportContext) -> dict[str, Any]:
    """The object: what the run says, as codes beside sentences, its figures, its machine."""
    analysis = context.analysis
    noise = analysis.noise.floor.metrics if analysis.noise.floor else ()
    return {
        "study": study.name,
        "form": _form(study, context.spec_text),
        "metric": analysis.answer.metric,
        "made": created_at(context.environment)[:10],
        "pgassay": context.version,
        "server": server_version(context.environment),
        "machine": _machine(context.environment.host.given),
        "experiment": context.spec_text,
        **{name: _texts(context, kinds) for name, kinds in SHOWN.items()},
        "checkpoints": [
            _said(one)
            for one in context.of_kind(FindingKind.OBSERVATION)
            if one.rule == "checkpoints"
        ],
        "noise": [
            {"metric": one.metric, "trial_sd": one.trial_sd, "ci95": one.trial_sd_ci95}
            for one in noise
        ],
        "arms": [
            {
                "label": arm.label,
                "trials": arm.trials,
                **{name: arm.means.get(name) for name in FIGURES},
            }
            for arm in analysis.answer.arms
        ],
        "host": _host(context),
        "run": run_object(study.name, context),
    }


def _host(context: ReportContext) -> list[dict[str, Any]]:
    """One row for each arm of which the host was read: means of its trials, or of its slices."""
    figures = context.analysis.explanation.infrastructure
    data = context.environment.host.storage.get("data")
    places = ("", *(() if data is None else (*data.devices, *data.disks)))
    by_name = {one.name: one for one in reversed(figures) if one.device in places}
    rows = []
    for arm in context.analysis.answer.arms:
        own = {
            name: next((each for each in one.figures if each.arm == arm.id), None)
            for name, one in by_name.items()
        }
        means = {name: each.mean for name, each in own.items() if each is not None}
        if not means:
            continue
        row: dict[str, Any] = {"label": arm.label, "trials": arm.trials}
        row |= {column: means.get(name) for column, name in HOST_FIGURES.items()}
        swapped = [means.get(name) for name in ("si", "so")]
        row["swapped"] = None if None in swapped else sum(filter(None, swapped)) * _PAGE_KB
        ends = by_name["dirty"].spreads if "dirty" in by_name else ()
        row["dirty_most"] = next((one.largest for one in ends if one.arm == arm.id), None)
        rows.append(row)
    return rows


def _texts(context: ReportContext, kinds: tuple[FindingKind, ...]) -> list[dict[str, Any]]:
    found = [_said(one) for kind in kinds for one in context.of_kind(kind)]
    return [one for at, one in enumerate(found) if one not in found[:at]]


def _said(finding: Finding) -> dict[str, Any]:
    """The claim of a finding; of a mere change, such as `2.8 → 1.4 (−49 %)`, also what changes,
    and between which levels."""
    text = coded("text", finding.claim)
    about = finding.comparison
    if about is None or finding.claim.code not in CHANGES:
        return text
    levels = {"factor": about.factor, "level": about.level, "baseline": about.baseline}
    return {**text, **coded("title", finding.title), "against": levels}


def _form(study: Study, text: str) -> str:
    """Which experiment file was run; a changed one is `shortened`, as for a trial of the tool."""
    return next((str(form) for form in Form if study.experiment(form) == text), "shortened")


def _machine(host: Mapping[str, Any]) -> str:
    """Such as `2 × AMD EPYC, 24 GB, Linux 6.18, ext4`."""
    memory = f"{host.get('memory_bytes', 0) / 2**30:.0f} GB"
    storage = ((host.get("storage") or {}).get("data") or {}).get("file_system")
    kernel = ".".join(str(host.get("kernel", "")).split("-")[0].split(".")[:2])
    parts = (f"{host.get('cpus')} × {host.get('cpu')}", memory, kernel, storage)
    return ", ".join(part for part in parts if part)


def _scrubbed(text: str, path: Path, name: str) -> str:
    """Without the path of the run, however it is written, and that of its servers."""
    for written in (str(path.resolve()), str(path)):
        text = text.replace(written, name)
    return _SERVER.sub("SERVER", text)
