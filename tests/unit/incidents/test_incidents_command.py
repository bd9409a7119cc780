"""`pgassay observe incidents` shows what was found, in every format, and text of others inert."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.observation.incidents.find import find_incidents
from pgassay.analysis.observation.slices import Slices
from pgassay.findings.incidents.signs import caveats, kind_of, sign_of
from pgassay.report.context import IncidentsContext
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.incidents import render_incidents_json
from pgassay.samples.forms.observation import ObservationFile
from support.runs.command import pgassay
from support.runs.json_page import documented
from support.synthetic.hostile import MARKUP
from support.synthetic.slices import quiet

ROOT = f"idle in transaction/11/1/8/relation/AccessExclusiveLock/a/b{MARKUP}"
RULE = "findings/incidents/signs/"


@pytest.fixture(scope="module")
def context() -> IncidentsContext:
    slices = quiet(1, 0.5, nightly=False)
    part = slice(2000, 2012)
    slices.values["sessions", "", "Lock:relation"] = np.zeros(len(slices))  # type: ignore[index]
    slices.values["sessions", "", "Lock:relation"][part] = 20.0
    slices.values["class", "", "lock"][part] = 20.0
    add_tree(slices, part)
    described = ObservationFile(server=MARKUP)
    return IncidentsContext("watched", described, find_incidents(slices), "0", {"8": MARKUP})


def add_tree(slices: Slices, part: slice) -> None:
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
        slices.values["blocking", ROOT, name] = row  # type: ignore[index]


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


def test_what_is_no_observation_is_refused_in_one_line(tmp_path: Path) -> None:
    done = pgassay("observe", "incidents", str(tmp_path))
    assert done.returncode
    assert done.stderr.count("\n") == 1
