"""What docs/sql.md and docs/python.md show works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pgassay
from pgassay.runs.catalogue import TABLES, descriptions
from pgassay.runs.run import Run

DOCS = Path(__file__).parents[3] / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("query", blocks("sql.md", "sql"))
def test_a_query_of_the_page_has_an_answer(query: str, runs: Path) -> None:
    answer = pgassay.sql(query, runs)
    assert answer.num_rows > 0
    assert not any(column.null_count == len(column) for column in answer.columns)


def test_the_code_of_the_page_runs_from_top_to_bottom(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(runs.parent)
    code = blocks("python.md", "python")
    assert len(code) >= 6
    exec(compile("\n".join(code), "docs/python.md", "exec"), {})  # noqa: S102
    shown = capsys.readouterr().out
    assert "better" in shown
    assert "active sessions" in shown
    assert "no-such-run" in shown


def test_the_page_describes_every_table_as_the_command_does() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (.+) \|$", (DOCS / "sql.md").read_text("utf-8"), re.MULTILINE
    )
    assert dict(rows) == descriptions()
    assert list(descriptions()) == list(TABLES)


def test_the_object_of_a_run_has_every_table_and_the_page_names_it() -> None:
    page = (DOCS / "python.md").read_text("utf-8")
    for name in set(TABLES) - {"runs", "environment"}:
        assert isinstance(vars(Run)[name], property)
        assert f".{name}`" in page
