"""Two studies in miniature, from the run to the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tools.studies import kept, pages

from pgassay.language import LANGUAGES, in_language
from pgassay.stored_notes import said_at
from pgassay.studies import catalogue
from pgassay.studies.catalogue import DESCRIPTION, study
from support.runs.command import pgassay

STUDIES = catalogue.FOLDER
SMALLER = {"step": '"0.4s"', "warmup": '"0.2s"', "scale": "1", "clients": "2"}


def miniature(name: str, folder: Path) -> None:
    """The study with the same factors, of blocks of a second."""
    here = folder / name
    here.mkdir(parents=True)
    (here / DESCRIPTION).write_text((STUDIES / name / DESCRIPTION).read_text("utf-8"))
    text = (STUDIES / name / "quick.toml").read_text("utf-8")
    for key, value in SMALLER.items():
        text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
    text = re.sub(r"^(min|max)_blocks = .*$", r"\1_blocks = 2", text, flags=re.MULTILINE)
    for form in ("quick", "full"):
        (here / f"{form}.toml").write_text(text)


@pytest.mark.parametrize(
    "name", [pytest.param("checkpoint-dip", marks=pytest.mark.heavy), "max-wal-size"]
)
def test_a_study_runs_and_its_page_says_what_was_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    miniature(name, tmp_path / "studies")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path / "studies")
    monkeypatch.setattr(kept, "RESULTS", tmp_path / "docs" / "studies" / "results")
    monkeypatch.setattr(pages, "RESULTS", tmp_path / "docs" / "studies" / "results")
    run = tmp_path / "run"
    file = tmp_path / f"{name}.toml"
    file.write_text(study(name).experiment(catalogue.Form.QUICK))
    done = pgassay("run", file, "--out", run, "--quiet")
    assert done.returncode == 0, done.stderr
    kept.RESULTS.mkdir(parents=True)
    kept.keep(study(name), run)
    found = json.loads((kept.RESULTS / f"{name}.json").read_text("utf-8"))
    assert found["form"] == "quick"
    assert str(tmp_path) not in json.dumps(found) + (kept.RESULTS / f"{name}.txt").read_text()
    for spoken in LANGUAGES:
        page = pages.page(study(name), spoken)
        with in_language(spoken):
            answer = [str(said_at(one, "text")) for one in found["answer"]]
        assert answer
        assert all(sentence in page for sentence in answer)
        for table in ("arms", "host"):
            assert all(f"| {row['label']} | 2 | " in page for row in found[table] if row["label"])
