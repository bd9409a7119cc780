"""Every source of the samplers is one .sql file and one line of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from pgassay.server.owned.origin import PRELOADED, SAMPLED
from pgassay.trials.sampling.queries import STATEMENTS, WAITS, all_queries

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "observation.md"
NO_TABLES = {"waits", STATEMENTS.resets, WAITS.resets}
"""The waits have a section; resets are read along with what they are about."""


def test_every_source_is_documented() -> None:
    views = DOCUMENTATION.read_text("utf-8").partition("## Views")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`(\w+)`", views))
    assert {query.name for query in all_queries()} - NO_TABLES <= documented


def test_a_server_of_our_own_gets_every_extension_that_is_read() -> None:
    marked = {query.extension for query in all_queries() if query.is_preloaded}
    assert marked == set(PRELOADED)
    assert {query.extension for query in all_queries()} - marked == {*SAMPLED, None}
