"""The summary of a run says the verdict, how sure it is, why, and what limits it."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from pgassay.cli.show.shown import show_run
from pgassay.cli.terminal import console
from support.synthetic.directories import SPEC, synthetic_run

WIDTH = 70


def printed(monkeypatch: pytest.MonkeyPatch, run: Path) -> str:
    """What `show` prints of a run, into a pipe."""
    monkeypatch.setattr(console.out, "_file", text := io.StringIO())
    show_run(run, None, None, as_json=False)
    return text.getvalue()


def test_it_has_the_verdict_its_certainty_why_and_the_caveats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = SPEC.replace("_blocks = 6", "_blocks = 4")
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=spec, effects={"a2": 0.2})
    text = printed(monkeypatch, run.path)
    lines = text.splitlines()
    assert lines[0] == "arm a1    max_wal_size = 32MB"
    assert any(line.startswith("BETTER IF NORMAL max_wal_size = 4GB is ") for line in lines)
    assert "sign-flip p = 0.125 (4 blocks)\n" in text
    assert "Why" in lines
    assert "WAL per transaction" in text
    first, second = lines[lines.index("2 caveats") + 1 :][:2]
    assert first.startswith("- could change the verdict: max_wal_size = 4GB had no checkpoint")
    assert second.startswith("- with 4 blocks the sign-flip p ")


def test_a_run_that_may_end_early_shows_the_p_of_all_its_looks_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = SPEC.replace("min_blocks = 6", "min_blocks = 4").replace(
        "max_blocks = 6", "max_blocks = 8"
    )
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=spec, blocks=8)
    text = printed(monkeypatch, run.path)
    assert re.search(r"p (≤ 0\.0\d+|> 0\.05) over all looks \(8 blocks\)", text)
    assert "sign-flip" not in text
    assert "e-value" not in text


def lines_of(text: str, *, is_terminal: bool, label: str = "risk: ") -> list[str]:
    """A labelled text as it is shown."""
    shown = io.StringIO()
    view = Console(
        file=shown, width=WIDTH, force_terminal=is_terminal, highlight=False, soft_wrap=True
    )
    console.labelled(label, text, console=view)
    return shown.getvalue().splitlines()


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
    assert "is undecided" in text
    assert "p > 0.05" not in text
    assert "sign-flip p" not in text.split("caveat")[0]
