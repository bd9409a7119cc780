"""The report of a run whose blocks ran on several servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.report.brief.render import render_brief
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.tables import tables_of
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.analysis import render_json
from pgassay.report.objects.run import run_object
from pgassay.report.objects.schemas import json_schema
from pgassay.report.sections.answer import by_server
from pgassay.workflows.reporting import analyse_run
from support.blocks import texts
from support.json_schema import mistakes
from support.runs.json_page import documented
from support.synthetic.directories import synthetic_run
from support.synthetic.fleets import by_turns, put_on_servers

HOSTILE = "<script>document.documentElement.dataset.ran = 1</script>"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    run, _, _ = synthetic_run(tmp_path_factory.mktemp("fleet") / "run", effects={"a2": 0.1})
    put_on_servers(run, by_turns("north", HOSTILE))
    return analyse_run(run)


def test_every_form_says_the_effect_of_each_server(context: ReportContext) -> None:
    html, markdown = render_html(context), render_markdown(context)
    assert 'id="by-server"' in html
    together = by_server.sentence("the_95_of_all", n=2)
    assert together in " ".join(texts(by_server.by_server.blocks(context)))
    assert 'data-chart="by_server"' in html
    assert HOSTILE not in html
    assert "## By server" in markdown
    assert "| north |" in markdown
    brief = render_brief(context)
    assert "\nmax_wal_size = 4GB:\n" in brief
    assert "\nnorth | " in brief
    tables = {one.name: one for one in tables_of(context)}
    rows = tables["server_effects"].rows
    assert len(rows) == 2
    assert len(tables["trials"].rows) == 12


def test_json_has_them_as_documented(context: ReportContext) -> None:
    for name, text in (
        ("analysis", render_json(context)),
        ("run", json.dumps(run_object("run", context))),
    ):
        found, schema = json.loads(text), json_schema(name)
        assert list(mistakes(found, schema, schema)) == []
        (one,) = found["by_server"]
        assert set(one) == documented("`by_server[]`", "pgassay.run/1")
        assert {each["server"] for each in one["servers"]} == {"north", HOSTILE}


def test_a_run_on_one_server_says_nothing_of_it(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run")
    context = analyse_run(run)
    assert "By server" not in render_markdown(context)
    assert "server" not in json.loads((run.trial(1).folder / "trial.json").read_text())
