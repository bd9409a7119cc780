"""The GitHub Action and the GitLab template measure, comment and gate; their own steps are run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from support.runs.ci_steps import ACTION, GITLAB, ROOT, Outcome, github, gitlab, gitlab_server

SPEC = """
[workload]
use = "payments-read"
[factors.client]
think_time = ["20ms", "100ms"]
[load]
clients = 2
step = "0.4s"
warmup = "0.2s"
[reset]
level = "none"
[design]
seed = 3
min_blocks = 4
max_blocks = 4
"""
"""Four fifths of the throughput, and more than half of it on a machine that others keep busy."""
HOLDS, FAILS = "throughput<+50%", "throughput>-2%"


def with_spec(folder: Path) -> Path:
    folder.mkdir()
    (folder / "bench it.toml").write_text(SPEC)
    return folder


def test_the_action_comments_and_keeps_the_report_and_fails_with_the_status_of_the_gate(
    own_base: Path, tmp_path: Path
) -> None:
    folder = with_spec(tmp_path / "failing")
    done = github(folder, spec="bench it.toml", gates=f"{FAILS}\n\n{HOLDS}\n")
    assert done.status == 3, done.printed
    assert done.installed == f"install --quiet {ROOT}\n"
    run = folder / "pgassay-run"
    gates = json.loads((run / "result.json").read_text())["gates"]
    assert [one["outcome"] for one in gates] == ["failed", "holds"]
    assert "<failure" in (run / "junit.xml").read_text()
    assert (run / "report.html").is_file()
    assert FAILS.partition(">")[0] in (folder / "GITHUB_STEP_SUMMARY").read_text()
    search, post = done.asked_gh
    assert "repos/lab/shop/issues/7/comments --paginate" in search
    assert post.startswith("api -X POST repos/lab/shop/issues/7/comments -F body=@")
    body = (folder / "gh.log.body").read_text()
    assert body == f"<!-- pgassay: bench it.toml -->\n{(run / 'report.md').read_text()}"


def test_the_action_edits_its_comment_and_says_nothing_where_there_is_no_pull_request(
    tmp_path: Path,
) -> None:
    folder = with_spec(tmp_path / "holding")
    (folder / "gh.log.own").write_text("42\n")
    done = github(folder, spec="bench it.toml", package="pgassay==1", real=False)
    assert done.status == 0, done.printed
    assert done.installed == "install --quiet pgassay==1\n"
    assert "-X PATCH repos/lab/shop/issues/comments/42" in done.asked_gh[-1]
    asked = len(done.asked_gh)
    assert len(github(folder, spec="bench it.toml", number="", real=False).asked_gh) == asked


def test_a_long_comment_leaves_out_folded_parts_and_sections_and_cuts_none(tmp_path: Path) -> None:
    (step,) = (one["run"] for one in ACTION["runs"]["steps"] if one["name"].startswith("Comment"))
    plan = "<details><summary>q1</summary>\n\n```text\nSeq Scan\n```\n\n</details>\n"
    rows = "| row |\n" * 9000
    long = f"<details><summary>more</summary>\n\n{rows}\n</details>\n"
    gates, last = "## Gates\n\n| gate |\n\n", "\n## Why\n\nend\n"
    (tmp_path / "report.md").write_text(f"# r\n\n{gates}{long}{plan}{last}")
    here = {"RUN": str(tmp_path), "RUNNER_TEMP": str(tmp_path), "COMMENT": "true", "NUMBER": "7"}
    environment = {**here, "SPEC": "s", "PATH": "/usr/bin:/bin", "GITHUB_REPOSITORY": "lab/shop"}
    subprocess.run(["bash", "-c", step], env=environment, check=True, capture_output=True)
    body = (tmp_path / "comment.md").read_text()
    shown, _, said = body.partition("\n(some parts")
    assert shown == f"<!-- pgassay: s -->\n# r\n\n{gates}{plan}{last}"
    assert "artefact" in said


def test_a_job_without_a_result_fails_with_the_reason_and_comments_nothing(tmp_path: Path) -> None:
    folder = with_spec(tmp_path / "wrong")
    done = github(folder, spec="absent.toml", number="")
    assert done.status == 1
    assert "absent.toml: there is no such file" in done.printed
    assert done.asked_gh == []
    done = gitlab(folder, {}, spec="bench it.toml", gates="speed>1")
    assert done.status == 1
    assert "speed>1" in done.printed


def test_the_gitlab_job_comments_once_edits_later_and_ends_with_the_status_of_the_gate(
    tmp_path: Path,
) -> None:
    with gitlab_server() as server:
        merge_request = {
            "PGASSAY_TOKEN": "token", "CI_MERGE_REQUEST_IID": "5", "CI_PROJECT_ID": "3",
            "CI_API_V4_URL": server.address,
        }  # fmt: skip
        server.bodies.append("what somebody wrote")
        folder = with_spec(tmp_path / "first")
        gates = f"{FAILS}\n{HOLDS}"
        done = gitlab(folder, merge_request, spec="bench it.toml", gates=gates, real=False)
        assert done.status == 3, done.printed
        assert done.installed == "install --quiet pgassay\n"
        assert server.bodies[1].startswith("<!-- pgassay: bench it.toml -->\n")
        run = folder / "pgassay-run"
        assert {"report.md", "junit.xml", "result.json"} <= {one.name for one in run.iterdir()}
        shown = (folder / "pgassay.log").read_text().splitlines()
        given = f"--gate {FAILS} --gate {HOLDS}"
        assert shown == [
            f"run --out pgassay-run --plain --json {given} --gate-undecided worse -- bench it.toml",
            "report pgassay-run --format md",
            "report pgassay-run --format junit",
        ]
        assert GITLAB["pgassay"]["artifacts"]["paths"] == ["pgassay-run/"]
        again = with_spec(tmp_path / "again")
        done = gitlab(again, merge_request, spec="bench it.toml", real=False)
        assert done.status == 0, done.printed
        assert len(server.bodies) == 2
        assert server.requests[-1] == "PUT /api/v4/projects/3/merge_requests/5/notes/2"


def test_a_pull_request_from_a_fork_is_not_trusted_and_one_of_the_repository_is(
    tmp_path: Path,
) -> None:
    def asked(name: str, **how: str) -> str:
        folder = with_spec(tmp_path / name)
        done = github(folder, spec="bench it.toml", real=False, **how)
        assert done.status == 0, done.printed
        return (folder / "pgassay.log").read_text().splitlines()[0]

    assert "--untrusted" in asked("fork", author="stranger/shop")
    assert "--untrusted" in asked("gone", author="")
    assert "--untrusted" not in asked("own")
    assert "--untrusted" not in asked("push", number="")
    for word in ("true", "True", "yes"):
        assert "--untrusted" in asked(f"wanted-{word}", untrusted=word)
    assert "--untrusted" not in asked("trusted", author="stranger/shop", untrusted="false")
    folder = with_spec(tmp_path / "merge")
    projects = {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "9", "CI_MERGE_REQUEST_PROJECT_ID": "3"}
    gitlab(folder, projects, spec="bench it.toml", real=False)
    assert "--untrusted" in (folder / "pgassay.log").read_text().splitlines()[0]


def test_a_job_that_only_gates_asks_for_it_by_an_input(tmp_path: Path) -> None:
    for only in ("true", "false"):
        hub, lab = (with_spec(tmp_path / f"{name}-{only}") for name in ("hub", "lab"))
        given = {"spec": "bench it.toml", "gates": HOLDS, "gates_only": only}
        assert github(hub, real=False, **given).status == 3
        assert gitlab(lab, {}, real=False, **given).status == 3
        for folder in (hub, lab):
            begun = (folder / "pgassay.log").read_text().splitlines()[0]
            assert ("--gates-only" in begun) == (only == "true")


def test_neither_a_run_nor_a_module_of_the_checkout_becomes_part_of_the_job(tmp_path: Path) -> None:
    def of_gitlab(folder: Path) -> Outcome:
        return gitlab(folder, {"PGASSAY_TOKEN": "token"}, spec="bench it.toml", real=False)

    def of_github(folder: Path) -> Outcome:
        return github(folder, spec="bench it.toml", real=False)

    for name, job in (("hub", of_github), ("lab", of_gitlab)):
        folder = with_spec(tmp_path / name)
        (folder / "json.py").write_text("raise SystemExit('of the checkout')\n")
        done = job(folder)
        assert done.status == 0, done.printed
        forged = with_spec(tmp_path / f"{name}-forged")
        (forged / "pgassay-run").mkdir()
        (forged / "pgassay-run" / "analysis.json").write_text("{}")
        done = job(forged)
        assert done.status == 1
        assert "pgassay-run exists already" in done.printed
        assert done.asked_gh == []
    keep = next(one for one in ACTION["runs"]["steps"] if one["name"] == "Keep the report")
    assert keep["if"] == "always() && steps.run.outputs.made == 'true'"


def test_inputs_never_become_text_of_a_script() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    scripts += [*GITLAB["pgassay"]["script"], *GITLAB["pgassay"]["before_script"]]
    assert [script for script in scripts if "${{" in script or "$[[" in script] == []
