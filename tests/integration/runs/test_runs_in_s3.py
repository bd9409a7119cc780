"""A run with an S3 URL, over HTTP: carried out, broken off, read, continued, removed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fsspec
import pytest

from support.runs.broken import LOAD, WatchedRun, spec_file
from support.runs.command import pgassay
from support.runs.s3 import s3_server
from support.synthetic.directories import synthetic_run

FOLDER = "s3://lab/team/runs"
RUN = f"{FOLDER}/one"


def store_of(environment: Mapping[str, str]) -> Any:
    return fsspec.filesystem(
        "s3",
        key=environment["AWS_ACCESS_KEY_ID"],
        secret=environment["AWS_SECRET_ACCESS_KEY"],
        endpoint_url=environment["AWS_ENDPOINT_URL"],
    )


def test_a_run_in_s3_is_listed_and_removed(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "one", blocks=1)
    with s3_server(tmp_path) as environment:
        store_of(environment).put(str(run.path), RUN, recursive=True)
        listed = pgassay("list", FOLDER, "--json", **environment)
        (found,) = json.loads(listed.stdout)["runs"]
        assert (found["run"], found["trials"]) == (RUN, 2)
        assert f"removed {RUN} (" in pgassay("rm", RUN, "--yes", **environment).stdout
        assert not store_of(environment).exists(RUN)


@pytest.mark.heavy
def test_a_run_is_stored_as_it_goes_and_continued_read_and_removed_by_its_url(
    tmp_path: Path, own_base: Path
) -> None:
    del own_base
    with s3_server(tmp_path) as environment:

        def done(*words: str | Path) -> str:
            ended = pgassay(*words, **environment)
            assert ended.returncode == 0, ended.stderr
            return ended.stdout

        def listed() -> dict[str, Any]:
            (found,) = json.loads(done("list", FOLDER, "--json"))["runs"]
            return dict(found)

        working = tmp_path / "data" / "pgassay" / "runs" / "s3" / "lab" / "team" / "runs" / "one"
        tool = WatchedRun(working, spec_file(tmp_path), "--out", RUN, **environment)
        try:
            tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
            tool.forget()
            tool.wait_for(lambda: tool.says(LOAD), "a load")
            # At once: a command of ours may start when the run has ended.
            assert store_of(environment).cat_file(f"{RUN}/trials/0001/trial.json")
            tool.interrupt()
            assert tool.end() == 130
        finally:
            tool.kill()
        assert f"pgassay run --resume {RUN}" in tool.text
        assert str(working) in tool.text
        kept = listed()
        assert kept["state"] == "unfinished"
        assert kept["trials"] >= 1
        assert "report.html" in done("report", RUN)

        resumed = pgassay("run", "--resume", RUN, "--json", **environment)
        assert resumed.returncode == 0, resumed.stderr
        assert f"stored in {RUN}" in resumed.stderr
        assert json.loads(resumed.stdout)["run"] == RUN
        assert not working.exists()
        kept = listed()
        assert (kept["state"], kept["trials"], kept["run"]) == ("finished", 4, RUN)

        query = "select run, count(*) as n from trials join runs using (run) group by 1"
        answer = json.loads(done("sql", query, FOLDER, "--format", "json"))
        assert answer["rows"] == [{"run": "one", "n": 4}]
        shown = json.loads(done("show", RUN, "--json"))
        assert shown["verdicts"] == json.loads(resumed.stdout)["verdicts"]

        again = pgassay("run", tmp_path / "lab.toml", "--out", RUN, **environment)
        assert again.returncode == 1
        assert "exists already" in again.stderr
        assert f"removed {RUN} (" in done("rm", RUN, "--yes")
        assert f"{FOLDER}: there is nothing" in pgassay("list", FOLDER, **environment).stderr
