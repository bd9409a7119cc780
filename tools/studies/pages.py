"""Make the pages of studies, in each language.

Enters: study.toml, and the kept run if there is one. Leaves: the text of docs/studies/NAME.md and
of its translations, and the index of these. Never: analyses, or says of a run what was not kept of
it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.studies.kept import RESULTS
from tools.studies.words import ARM_COLUMNS, HOST_COLUMNS, flowing, said, templates

from pgassay.language import LANGUAGES, Language, decimals, in_language, localised
from pgassay.plan.description import run_lengths
from pgassay.plan.design import make_plan
from pgassay.quantities import clock
from pgassay.stored_notes import said_at
from pgassay.studies.catalogue import Form, Study, names, study

_ROOT = RESULTS.parents[2]
PAGES: dict[Language, Path] = {
    one: _ROOT.joinpath("docs", *([] if one == "en" else [one]), "studies") for one in LANGUAGES
}
"""The folder of the pages in each language."""
_NAMES: dict[Language, str] = {"en": "English", "ru": "Русский", "zh": "中文"}
_STOPS: dict[Language, str] = {"zh": "。"}


def write_pages() -> None:
    """Every page, and the indexes but the English one, which is written by hand."""
    for spoken, folder in PAGES.items():
        folder.mkdir(parents=True, exist_ok=True)
        for name in names():
            (folder / f"{name}.md").write_text(page(study(name), spoken), "utf-8")
        if spoken != "en":
            (folder / "README.md").write_text(index(spoken), "utf-8")


def page(study: Study, spoken: Language) -> str:
    """The whole page in a language."""
    is_english = spoken == "en"
    with in_language(spoken):
        return (
            templates()
            .get_template("page.md.j2")
            .render(
                study=study.texts,
                name=study.name,
                source=f"studies/{study.name}/study.toml"
                if is_english
                else f"tools/studies/{spoken}.po",
                elsewhere=_elsewhere(study.name, spoken),
                stop=_STOPS.get(spoken, "."),
                quick=study.experiment(Form.QUICK),
                takes=_takes(study),
                kept=_kept(study.name, "json"),
                traced=_kept(study.name, "traced"),
                results=_path_to(RESULTS, spoken),
                rounded=_rounded,
                sentence=_sentence,
                table=_table,
                arm_columns=ARM_COLUMNS,
                host_columns=HOST_COLUMNS,
            )
        )


def index(spoken: Language) -> str:
    """The page that lists all studies in a language."""
    with in_language(spoken):
        return (
            templates()
            .get_template("index.md.j2")
            .render(
                elsewhere=_elsewhere("README", spoken),
                studies=[(name, study(name).texts.question) for name in names()],
                lang=spoken,
            )
        )


def _elsewhere(name: str, spoken: Language) -> str:
    """Links to the same page in the other languages."""
    return " · ".join(
        title if one == spoken else f"[{title}]({_path_to(PAGES[one] / f'{name}.md', spoken)})"
        for one, title in _NAMES.items()
    )


def _path_to(target: Path, spoken: Language) -> str:
    return Path(os.path.relpath(target, PAGES[spoken])).as_posix()


def _takes(study: Study) -> str:
    least, most = map(clock, run_lengths(make_plan(study.spec(Form.QUICK))))
    return least if least == most else said("{least} to {most}", least=least, most=most)


def _kept(name: str, ending: str) -> dict[str, Any] | None:
    file = RESULTS / f"{name}.{ending}"
    if not file.is_file():
        return None
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def _sentence(kept: Mapping[str, Any] | str) -> str:
    """A sentence of the run; in English where it was kept before notes were."""
    if isinstance(kept, str):
        return flowing(kept)
    text, title = (said_at(kept, key) for key in ("text", "title"))
    if title is None:
        return flowing(str(text))
    return said(
        "{title}, {factor} = {level} against {baseline}: {change}",
        title=title,
        change=text,
        **kept["against"],
    )


def _rounded(value: float | None) -> str:
    """Three significant digits; a dash where it was not measured."""
    if value is None:
        return "–"
    return localised(f"{value:,.0f}") if abs(value) >= 100 else decimals(value, ".3g")


def _table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """One row for each arm; without columns of which no arm has a figure."""
    rows = [{**row, "hit_ratio": _hit_ratio(row)} for row in rows]
    known = {name: head for name, head in columns.items() if any(_has(row, name) for row in rows)}
    heads = map(said, ("arm", "trials", *known.values()))
    lines = [[*heads], ["---"] * (2 + len(known))]
    for row in rows:
        figures = [_rounded(row.get(name)) for name in known]
        lines.append([row["label"] or said("all arms, by turns"), str(row["trials"]), *figures])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _has(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) is not None


def _hit_ratio(row: Mapping[str, Any]) -> float | None:
    hit, read = row.get("blocks_hit_per_tx"), row.get("blocks_read_per_tx")
    if hit is None or read is None or hit + read == 0:
        return None
    return 100.0 * float(hit) / float(hit + read)
