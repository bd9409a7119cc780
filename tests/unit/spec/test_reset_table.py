"""The `[reset]` table: what can be asked of which server, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.plan.design import make_plan
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.spec.server.reset import Caches, ResetLevel, ResetRule
from support.refusals import refused

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
        (EXISTING + "[reset]\nlevel = 'snapshot'\n", ResetRule(ResetLevel.SNAPSHOT)),
    ],
)
def test_a_reset_table_means_one_rule(text: str, rule: ResetRule) -> None:
    assert parsed(text).file.reset_rule() == rule


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[reset]\nlevel = 'template'\n",
            refused("reset-not-for-this", kind="an owned server"),
        ),
        (
            EXISTING + "cluster = '15/main'\n[reset]\nlevel = 'snapshot'\n",
            refused("not-for-a-copy", "target.cluster"),
        ),
        (EXISTING + "[reset]\nlevel = 'template'\n", refused("template-without-permission")),
        (
            "[reset]\nlevel = 'none'\ncaches = 'cold'\n",
            refused("cold-caches-kept-warm"),
        ),
        (
            "[reset]\nlevel = 'snapshoot'\n",
            refused("not-one-of", "reset.level", near="did you mean snapshot?"),
        ),
        (
            "[reset]\nlevel = 'restart'\n[factors.target]\nversion = [16, 18]\n",
            refused(
                "reset-keeps-varied-data",
                "reset.level",
                level="restart",
                varied="factors.target.version",
            ),
        ),
        ("[reset]\ncaches = 'hot'\n", refused("not-one-of", "reset.caches", near="")),
    ],
)
def test_a_reset_that_does_not_fit_the_server_is_refused_with_what_fits(
    text: str, expected: refused
) -> None:
    with expected:
        parsed(text)


def test_a_copy_of_an_existing_server_takes_what_an_owned_one_does() -> None:
    copied = parsed(
        EXISTING + "allow_host_changes = true\n[reset]\nlevel = 'snapshot'\n"
        "[placement]\nserver = '0'\n[factors.postgres]\nshared_buffers = ['1GB', '2GB']\n"
        "[factors.workload]\nscale = [1, 2]\n[settings.host]\n'vm.swappiness' = 1\n"
    ).file
    assert copied.copies_existing
    assert not copied.loads_existing


@pytest.mark.parametrize("level", ResetLevel)
def test_a_plan_warns_of_everything_that_a_reset_does_not_restore(level: ResetLevel) -> None:
    target = "" if "owned" in level.servers else EXISTING + "allow_changes = true\n"
    notes = make_plan(parsed(f"{target}[reset]\nlevel = '{level}'\n")).notes
    named = [one.values["differs"] for one in notes if one.code == "plan/reset-level"]
    assert named == list(level.differs)
    assert bool(named) == (level is not ResetLevel.SNAPSHOT)
    assert level.does
