"""The summary of a run says the verdict, how sure it is, why, and what limits it."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from pgassay.analysis.model import Verdict
from pgassay.cli.show.shown import show_run
from pgassay.cli.terminal import console
from pgassay.cli.terminal.blocks import print_blocks
from pgassay.language import Message, in_language
from pgassay.report.document.table import Cell, Column, table
from pgassay.report.sections.answer.effect import effect
from pgassay.report.sections.answer.why import why
from pgassay.report.sections.record.method import caveats
from pgassay.report.tables.cells import ABSENT
from support.synthetic.directories import SPEC, synthetic_run

WIDTH = 70


def printed(monkeypatch: pytest.MonkeyPatch, run: Path) -> str:
    """What `show` prints of a run, into a pipe."""
    monkeypatch.setattr(console.out, "_file", text := io.StringIO())
    show_run(run, None, None, as_json=False)
    return text.getvalue()


def cells(line: str) -> list[str]:
    """A row of a table."""
    return re.split(r"\s{2,}", line.strip())


def sections(text: str) -> dict[str, list[str]]:
    """Heading → the lines beneath it; blank lines stand above headings and between tables."""
    parts = (part.splitlines() for part in text.split("\n\n"))
    return {title: lines for title, *lines in parts}


def verdict_row(text: str) -> list[str]:
    """The first verdict, beneath the titles of its table."""
    rows = [cells(line) for line in sections(text)[effect.title]]
    return rows[[row[0] for row in rows].index("Level compared") + 1]


def test_it_has_the_verdict_its_certainty_why_and_the_caveats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = SPEC.replace("_blocks = 6", "_blocks = 4")
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=spec, effects={"a2": 0.2})
    text = printed(monkeypatch, run.path)
    assert text.splitlines()[0] == "arm a1    max_wal_size = 32MB"
    assert "\nBETTER IF NORMAL " in text
    found = sections(text)
    first = verdict_row(text)
    assert (first[0], first[2]) == ("max_wal_size = 4GB", "better if normal")
    assert first[-2:] == ["4", "p = 0.125"]
    assert any(line.startswith("WAL per transaction  ") for line in text.splitlines())
    assert why.title in found
    assert caveats.title in found
    assert text.count("\n- ") == 2, "caveats"


def test_a_run_that_may_end_early_shows_the_p_of_all_its_looks_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = SPEC.replace("min_blocks = 6", "min_blocks = 4").replace(
        "max_blocks = 6", "max_blocks = 8"
    )
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=spec, blocks=8, effects={"a2": 0.2})
    text = printed(monkeypatch, run.path)
    assert re.fullmatch(r"p ≤ 0\.0\d+", verdict_row(text)[-1])


def test_a_table_too_wide_for_the_terminal_is_shown_row_by_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = table((Column("Of", "group"), Column("Metric", "heading"), Column("Change")), [
        ("[b]fsync", "Throughput", "+5 %"), ("[b]fsync", "p99 latency", Cell("−3 %", note="few"))
    ])  # fmt: skip
    monkeypatch.setattr(console.out, "_width", 20)
    with console.out.capture() as captured:
        print_blocks([shown])
    assert captured.get().splitlines() == [
        "- Of [b]fsync; Metric Throughput; Change +5 %",
        "- Of [b]fsync; Metric p99 latency; Change −3 %; few",
    ]


def lines_of(text: str, *, is_terminal: bool, label: str = "risk: ") -> list[str]:
    """A labelled text as it is shown."""
    shown = io.StringIO()
    view = Console(
        file=shown, width=WIDTH, force_terminal=is_terminal, highlight=False, soft_wrap=True
    )
    console.labelled(label, text, console=view)
    return shown.getvalue().splitlines()


def test_titles_and_cells_of_a_table_are_in_the_language_of_the_report() -> None:
    with in_language("ru"):
        assert console.plain(Message("Load")) == str(Message("Load")) != "Load"


def test_a_labelled_text_wraps_beside_its_label_on_a_terminal_only() -> None:
    text = " ".join(["an effect of 12.5 % [not markup]"] * 6)
    assert lines_of(text, is_terminal=False) == [f"risk: {text}"]
    first, *more = lines_of(text, is_terminal=True)
    assert more
    assert " ".join([first, *(line.strip() for line in more)]) == f"risk: {text}"
    assert all(len(line) <= WIDTH for line in (first, *more))
    assert all(line.startswith(" " * len("risk: ")) for line in more)
    assert not any(line.strip().startswith("%") for line in more)


def test_below_a_label_as_wide_as_the_terminal_there_is_room_for_its_text() -> None:
    label, text = "a rather long title " * 4 + "(likely): ", "a sentence of some length " * 8
    lines = lines_of(text, is_terminal=True, label=label)
    assert len(lines) <= 6
    assert all(len(line) <= WIDTH for line in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(f"{label} {text}".split())


@pytest.mark.parametrize(("least", "most"), [(1, 1), (4, 8)])
def test_one_block_has_no_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: int, most: int
) -> None:
    spec = SPEC.replace("min_blocks = 6", f"min_blocks = {max(2, least)}").replace(
        "max_blocks = 6", f"max_blocks = {max(2, most)}"
    )
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=spec, blocks=1)
    text = printed(monkeypatch, run.path)
    row = verdict_row(text)
    assert (row[2], row[-1]) == (Verdict.UNDECIDED, ABSENT)
