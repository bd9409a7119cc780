"""`pgassay observe incidents` shows what was found, in every format, and text of others inert."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.validate.within_trials.quiet_days import quiet

from pgassay.analysis.observation.incidents.find import find_incidents
from pgassay.analysis.observation.incidents.model import Course, Incident, Incidents, Sign
from pgassay.analysis.observation.incidents.signs import KINDS
from pgassay.analysis.observation.slices import Slices
from pgassay.findings.incidents.signs import caveats, kind_of, sign_of
from pgassay.findings.incidents.suspects import proposal_of
from pgassay.findings.suspects import present_in
from pgassay.plan.design import make_plan
from pgassay.report.brief.prompt import render_prompt
from pgassay.report.brief.render import render_brief
from pgassay.report.context import IncidentsContext
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.incidents import render_incidents_json
from pgassay.report.objects.schemas import json_schema
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.observation import ObservationFile
from pgassay.spec.parse import parse_spec
from support.json_schema import mistakes
from support.runs.command import pgassay
from support.runs.json_page import documented
from support.synthetic.hostile import MARKUP

ROOT = f"idle in transaction/11/1/8/relation/AccessExclusiveLock/a/b{MARKUP}"
RULE = "findings/incidents/signs/"


@pytest.fixture(scope="module")
def context() -> IncidentsContext:
    part = slice(2000, 2012)
    slices = with_tree(with_queue(quiet(1, 0.5, nightly=False), part), part)
    described = ObservationFile(server=MARKUP)
    found = find_incidents(slices)
    return IncidentsContext("watched", described, found, EnvironmentFile(), "0", {"8": MARKUP})


def with_queue(slices: Slices, part: slice) -> Slices:
    queue = np.zeros(len(slices))
    queue[part] = 20.0
    slices.values["class", "", "lock"][part] = 20.0
    return slices.having(("sessions", "", "Lock:relation"), queue)


def with_tree(slices: Slices, part: slice) -> Slices:
    for name, values in {
        "waiting": 20.0,
        "roots": 1.0,
        "root_pid": 4711.0,
        "longest_ms": 1000.0 * np.arange(1, 13),
        "root_xact_ms": 1000.0 * np.arange(1, 13),
    }.items():
        row = np.full(len(slices), np.nan)
        row[part] = values
        # Held after it has gone, as values are that no longer change.
        row[part.stop :] = row[part.stop - 1]
        slices = slices.having(("blocking", ROOT, name), row)
    return slices


def test_an_incident_has_its_lock_tree_with_the_root_and_the_relation(
    context: IncidentsContext,
) -> None:
    (incident,) = context.incidents.found
    (blocked,) = incident.blocked
    assert (blocked.whose, blocked.root_pid, blocked.depth) == ("idle in transaction", 4711, 1)
    assert blocked.held == f"a/b{MARKUP}"
    assert blocked.waiting == pytest.approx(20.0, rel=0.1)
    assert blocked.longest_ms == 12_000.0
    assert kind_of(incident).code == f"{RULE}kind.lock-queue"
    assert sign_of(incident.signs[0]).values["value"] == pytest.approx(20.0, rel=0.1)


def test_a_single_day_is_said_to_be_short_and_four_are_not(context: IncidentsContext) -> None:
    assert f"{RULE}caveats.short" in [one.code for one in caveats(context.incidents)]
    week = find_incidents(quiet(2, 5.0))
    assert [one.code for one in caveats(week)] == [f"{RULE}caveats.associated"]


def test_the_page_and_markdown_show_text_of_others_inert(context: IncidentsContext) -> None:
    page = render_html(context)
    assert MARKUP not in page
    assert "4711" in page
    assert "4711" in render_markdown(context)


def test_the_object_has_the_keys_of_its_page(context: IncidentsContext) -> None:
    found = json.loads(render_incidents_json(context))
    assert set(found) == documented("the incidents", "pgassay.incidents/1")
    assert set(found["incidents"][0]) == documented("`incidents[]`", "pgassay.incidents/1")
    schema = json_schema("incidents")
    assert set(schema["properties"]) == set(found)
    assert list(mistakes(found, schema, schema)) == []


def test_the_brief_and_the_prompt_have_the_incident_and_no_name_of_a_server(
    context: IncidentsContext,
) -> None:
    named = replace(context, described=ObservationFile(server="db7.example:5432"))
    for text in (render_brief(named), render_prompt(named)):
        assert "Queue for locks" in text
        assert "AccessExclusiveLock" in text
    assert "db7.example" not in render_prompt(named)


def test_the_experiment_is_of_the_largest_incident_or_of_the_one_that_was_named() -> None:
    slices = with_queue(quiet(1, 0.5, nightly=False), slice(2000, 2012))
    slices.values["database", "", "temp_bytes"][3000:3012] = 6e7
    slices.values["class", "", "data_io"][3000:3012] += 3.0
    found = find_incidents(slices)
    largest, second = (proposal_of(found, {}, {"work_mem": "4MB"}, number) for number in (None, 2))
    assert largest is not None
    assert largest.name == "lock-queue"
    assert second is not None
    assert second.name == "temporary-files"
    assert "# Incident 2, from" in second.spec
    plan = make_plan(parse_spec(second.spec, source="next.toml", beside=Path()))
    assert plan.factors[0].levels[0] == "4MB"


@pytest.mark.parametrize("name", [*KINDS, "disk/wal", "disk/data_io"])
def test_each_sign_has_an_experiment_that_can_be_planned_but_for_busy_processors(
    name: str,
) -> None:
    kind, _, thing = name.partition("/")
    sign = Sign(kind, 0, 10**9, 9.0, 1.0, (thing,) if thing else ())
    incident = Incident(
        start_ns=0,
        end_ns=10**9,
        is_open=False,
        tps=1.0,
        usual_tps=9.0,
        sessions=9.0,
        usual_sessions=1.0,
        lost_transactions=8.0,
        extra_session_s=8.0,
        signs=(sign,),
        statements=(),
        blocked=(),
    )
    found = Incidents(0, 10**9, 1.0, 10.0, 0, Course((), (), ()), (incident,))
    present = dict.fromkeys(("work_mem", "max_wal_size", "shared_buffers"), "128MB")
    present["autovacuum_vacuum_cost_delay"] = "2"
    proposal = proposal_of(found, {}, present)
    if name in ("processors", "disk"):
        assert proposal is None
    else:
        assert proposal is not None
        make_plan(parse_spec(proposal.spec, source="next.toml", beside=Path()))


def test_sizes_of_settings_are_written_as_an_experiment_file_has_them() -> None:
    stored = EnvironmentFile.model_validate(
        {"server": {"every_setting": {"work_mem": {"value": "4096 × 1kB"}}}}
    )
    assert present_in(stored) == {"work_mem": "4MB"}


def test_what_is_no_observation_is_refused_in_one_line(tmp_path: Path) -> None:
    done = pgassay("observe", "incidents", str(tmp_path))
    assert done.returncode
    assert done.stderr.count("\n") == 1
