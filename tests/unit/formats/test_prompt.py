"""A prompt asks for what the facts carry, and names no machine and no constant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.statements.model import StatementCosts, StatementUse
from pgassay.language import LANGUAGES, in_language
from pgassay.report.brief.fitting import texts
from pgassay.report.brief.prompt import render_prompt
from pgassay.report.context import ReportContext
from support.synthetic.analyses import changed
from support.synthetic.hostile import hostile_context
from support.synthetic.report_contexts import NO_FACTORS, STEPS, synthetic_context, with_facts
from unit.report.test_report_observation import context as observed_context

LIMIT = 24_000
_SECRET = "Ivan Petrov"
_COSTS = StatementCosts("a1", 6, 1.0, 1.0, 1.0, 100.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, ())


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("run"), STEPS, effects={"a2": 0.2})


def test_it_asks_by_what_the_facts_are_of(context: ReportContext, tmp_path: Path) -> None:
    asked = texts()["prompt"]
    single = synthetic_context(tmp_path, NO_FACTORS)
    observed = observed_context()
    for one, kind in ((context, "run"), (single, "single"), (observed, "observation")):
        text = render_prompt(one)
        assert all(str(line) in text for line in (*asked[kind], *asked["rules"]))
    assert all(str(rule) in render_prompt(context) for rule in asked["rules_run"])
    assert not any(str(rule) in render_prompt(single) for rule in asked["rules_run"])


def test_it_is_below_24_kb_in_every_language(context: ReportContext, tmp_path: Path) -> None:
    for one in (context, hostile_context(tmp_path)):
        for language in LANGUAGES:
            with in_language(language):
                assert len(render_prompt(one).encode()) < LIMIT


def test_constants_of_statements_are_not_in_it(context: ReportContext) -> None:
    said = (
        f"UPDATE client SET name = '{_SECRET}', age = 4711 WHERE id = $1 /* {_SECRET} */",
        f"SELECT $tag${_SECRET}$tag$, 'cut off {_SECRET}",
    )
    used = tuple(StatementUse(str(n), text, n, True, (_COSTS,)) for n, text in enumerate(said))
    text = render_prompt(replace(context, analysis=changed(context.analysis, statement_use=used)))
    assert "UPDATE client SET name = ?, age = ? WHERE id = $1 ?" in text
    assert _SECRET not in text
    assert "4711" not in text


def test_machines_paths_and_addresses_are_not_in_it(context: ReportContext) -> None:
    given = {
        "schema": "pgassay.environment/1",
        "server": {
            "version": "PostgreSQL 18.6",
            "settings": {"listen_addresses": "db7.example.org", "work_mem": "64MB"},
        },
        "servers": {},
        "host": {"storage": {"data": {"path": "/srv/kunden/pg", "mount": "/srv"}}},
        "note": "reached at 10.1.2.3 by https://db7.example.org/x as /home/petra/run",
    }
    text = render_prompt(with_facts(context, environment=given))
    assert "work_mem = 64MB" in text
    for name in ("db7.example.org", "/srv", "10.1.2.3", "petra", context.run_name):
        assert name not in text


def test_rates_and_kernel_files_are_no_paths(context: ReportContext) -> None:
    given = {
        "schema": "pgassay.environment/1",
        "note": "4.2 MB/s, /proc/pressure/io",
    }
    assert given["note"] in render_prompt(with_facts(context, environment=given))
