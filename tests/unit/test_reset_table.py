"""The `[reset]` table: what can be asked of which server, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.errors import SpecError
from pgassay.plan.design import make_plan
from pgassay.spec.parse import Spec, parse_spec
from pgassay.spec.reset import Caches, ResetLevel, ResetRule

EXISTING = "[target]\ndsn = 'service=lab'\n"


def parsed(text: str) -> Spec:
    return parse_spec(text, source="lab.toml", beside=Path())


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", ResetRule(ResetLevel.SNAPSHOT)),
        (EXISTING, ResetRule(ResetLevel.VACUUM)),
        (
            "[reset]\nlevel = 'restart'\ncaches = 'cold'\n",
            ResetRule(ResetLevel.RESTART, Caches.COLD),
        ),
        ("[reset]\ncaches = 'warm'\n", ResetRule(ResetLevel.SNAPSHOT, Caches.WARM)),
        (EXISTING + "[reset]\nlevel = 'none'\n", ResetRule(ResetLevel.NONE)),
        (
            EXISTING + "allow_changes = true\n[reset]\nlevel = 'template'\n",
            ResetRule(ResetLevel.TEMPLATE),
        ),
        (
            EXISTING + "cluster = '15/main'\nallow_changes = true\nallow_restart = true\n"
            "allow_data_copy = true\n[reset]\nlevel = 'snapshot'\n",
            ResetRule(ResetLevel.SNAPSHOT),
        ),
    ],
)
def test_what_a_table_means(text: str, rule: ResetRule) -> None:
    assert parsed(text).file.reset_rule() == rule


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[reset]\nlevel = 'template'\n",
            "not for a server of our own; take one of snapshot, rest",
        ),
        (
            EXISTING + "[reset]\nlevel = 'snapshot'\n",
            "only with target.allow_data_copy = true",
        ),
        (EXISTING + "[reset]\nlevel = 'template'\n", "only with target.allow_changes = true"),
        ("[reset]\nlevel = 'none'\ncaches = 'cold'\n", "take one of snapshot, restart, template"),
        ("[reset]\nlevel = 'snapshoot'\n", "reset.level"),
        (
            "[reset]\nlevel = 'restart'\n[factors.target]\nversion = [16, 18]\n",
            "reset.level: 'restart' keeps the data of the trial before, which factors.target.ver",
        ),
        ("[reset]\ncaches = 'hot'\n", "reset.caches"),
    ],
)
def test_what_cannot_be_had_is_refused_with_what_can(text: str, told: str) -> None:
    with pytest.raises(SpecError) as refused:
        parsed(text)
    assert told in str(refused.value)


@pytest.mark.parametrize("level", ResetLevel)
def test_a_plan_warns_of_all_that_a_level_does_not_make_the_same(level: ResetLevel) -> None:
    target = "" if "owned" in level.servers else EXISTING + "allow_changes = true\n"
    warnings = make_plan(parsed(f"{target}[reset]\nlevel = '{level}'\n")).warnings
    told = [text for text in warnings if text.startswith("reset level")]
    assert told == [f"reset level {level}: {text}" for text in level.differs]
    assert bool(told) == (level is not ResetLevel.SNAPSHOT)
    assert level.does
