"""The words of studies and of their pages, in each language.

Enters: study.toml of each study, the templates beside this file, and the catalogues ru.po and zh.po
there, which `make messages` keeps. Leaves: texts in the language in force. Never: shows a
translation of a text that has changed since: that is shown in English until it is translated again.
"""

from __future__ import annotations

import gettext
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import polib
from jinja2 import Environment, FileSystemLoader, StrictUndefined, nodes
from tools.messages.extract import Msg

from pgassay.language import language
from pgassay.studies.catalogue import Form, names, study

FOLDER = Path(__file__).parent
ARM_COLUMNS = {
    "tps": "tps",
    "latency_mean": "mean latency, ms",
    "latency_p99": "p99, ms",
    "wal_bytes_per_tx": "WAL, bytes/tx",
    "wal_fpi_per_tx": "full-page images/tx",
    "hit_ratio": "hit ratio, %",
    "blocks_read_per_tx": "blocks read/tx",
    "server_cpu_ms_per_tx": "server CPU, ms/tx",
}
"""Means over an arm's trials that a page shows, and the heads of their columns."""
HOST_COLUMNS = {
    "reads": "reads/s",
    "writes": "writes/s",
    "r_await": "r_await, ms",
    "w_await": "w_await, ms",
    "util": "disk busy, %",
    "us": "us, %",
    "sy": "sy, %",
    "wa": "wa, %",
    "swapped": "swapped in and out, kB/s",
    "dirty": "dirty, MB",
    "dirty_most": "dirty at most, MB",
    "slab": "slab, MB",
}
"""The same of the host."""
_OF_PAGES = (
    *(*Form, "shortened"),
    *("arm", "trials", "all arms, by turns", "before", "during"),
    *("{least} to {most}", "{title}, {factor} = {level} against {baseline}: {change}"),
)
"""Those of kept.py and pages.py."""


def said(text: str, /, **values: object) -> str:
    """A text in the language in force, as one line; no-break spaces stay."""
    found = _catalogue(language()).gettext(flowing(text))
    return found.format(**values) if values else found


def flowing(text: str) -> str:
    """As one line."""
    return re.sub(r"[ \n]+", " ", text.strip())


def templates() -> Environment:
    """Those of the pages; `tr` is a message in them."""
    environment = Environment(  # noqa: S701 - Markdown of our own texts
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["tr"] = said
    return environment


def messages() -> list[Msg]:
    """Every message once, in alphabetical order."""
    heads = (*HOST_COLUMNS.values(), *ARM_COLUMNS.values())
    texts = {*_of_templates(), *_of_studies(), *heads, *map(str, _OF_PAGES)}
    return sorted(Msg(one) for one in texts if any(map(str.isalpha, one)))


def _of_templates() -> Iterator[str]:
    environment = templates()
    for file in FOLDER.glob("*.j2"):
        for call in environment.parse(file.read_text("utf-8")).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "tr":
                given = call.args[0]
                consts = [given] if isinstance(given, nodes.Const) else given.find_all(nodes.Const)
                yield from (flowing(str(one.value)) for one in consts)


def _of_studies() -> Iterator[str]:
    for name in names():
        for text in study(name).texts.model_dump().values():
            yield from map(flowing, [text] if isinstance(text, str) else text or [])


@cache
def _catalogue(spoken: str) -> gettext.NullTranslations:
    file = FOLDER / f"{spoken}.po"
    if not file.is_file():
        return gettext.NullTranslations()
    return gettext.GNUTranslations(io.BytesIO(polib.pofile(file.read_text("utf-8")).to_binary()))
