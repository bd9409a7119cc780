"""The list of sections and the list of rules are whole: nothing is left out by a slip of a name."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pgassay.findings
import pgassay.report
import pgassay.report.sections
from pgassay.findings import registry
from pgassay.report.document.section import Section
from pgassay.report.sections.apart import APART_SECTIONS
from pgassay.report.sections.history import HISTORY_SECTIONS
from pgassay.report.sections.incidents import INCIDENT_SECTIONS
from pgassay.report.sections.observation import OBSERVATION_SECTIONS
from pgassay.report.sections.periods import PERIOD_SECTIONS
from pgassay.report.sections.periods.groups import GROUP_SECTIONS
from pgassay.report.sections.run_parts import RUN_SECTIONS
from pgassay.report.sections.trace import TRACE_SECTIONS

PACKAGE = pgassay.report.sections.__name__
SECTIONS = Path(pgassay.report.sections.__file__).parent
RULES = Path(pgassay.findings.__file__).parent
LISTED: tuple[Section, ...] = (
    *RUN_SECTIONS,
    *OBSERVATION_SECTIONS,
    *TRACE_SECTIONS,
    *APART_SECTIONS,
    *HISTORY_SECTIONS,
    *INCIDENT_SECTIONS,
    # Its groups are made of a list of names.
    *(one for one in PERIOD_SECTIONS if one not in GROUP_SECTIONS),
)


def names(pattern: str) -> set[str]:
    """Such as `answer/effect`, of every file beneath the sections."""
    found = (path.relative_to(SECTIONS) for path in SECTIONS.glob(f"*/{pattern}"))
    return {str(path.with_name(path.name.split(".")[0])) for path in found}


def test_every_section_has_a_module_and_a_line_in_the_list() -> None:
    listed = {section.name for section in LISTED}
    made = [
        value
        for name in names("*.py")
        for value in vars(import_module(f"{PACKAGE}.{name.replace('/', '.')}")).values()
        if isinstance(value, Section)
    ]
    assert listed == {section.name for section in made}
    for section in made:
        room = f"{PACKAGE}.{section.name.split('/')[0]}."
        assert f"{section.content.__module__}.".startswith(room)


def test_no_two_sections_of_a_report_share_an_anchor() -> None:
    for sections in (RUN_SECTIONS, OBSERVATION_SECTIONS, APART_SECTIONS, HISTORY_SECTIONS):
        anchors = [section.anchor for section in sections]
        assert len(set(anchors)) == len(anchors)


def test_every_module_with_a_rule_is_listed() -> None:
    listed = {rule.__module__.rpartition(".")[2] for rule in registry.RULES}
    with_rule = {path.stem for path in RULES.rglob("*.py") if "\ndef find(" in path.read_text()}
    assert listed == with_rule - {"registry"}


def test_every_sentence_of_a_room_is_there_and_is_shown() -> None:
    report = Path(pgassay.report.__file__).parent
    for file in report.rglob("texts.toml"):
        for module, sentences in tomllib.loads(file.read_text("utf-8")).items():
            source = (file.parent / f"{module}.py").read_text("utf-8")
            shown = set(re.findall(r"\bsentence(?:\.marked)?\(\s*\"(\w+)\"", source))
            assert shown <= set(sentences), f"{file}: {module}"
            assert set(sentences) <= set(re.findall(r"\"(\w+)\"", source)), f"{file}: {module}"
    with_sentences = {
        path.with_name("texts.toml")
        for path in report.rglob("*.py")
        if "texts_of(__name__)" in path.read_text("utf-8")
    }
    assert with_sentences == {*report.rglob("texts.toml")}
