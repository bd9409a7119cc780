"""The table of factor kinds: complete, and consistent with how each kind may be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.spec.factors.kinds import KINDS, LABEL, QUERIES, Alternates, Applied, written_factors
from pgassay.spec.factors.tables import FactorsTable
from pgassay.spec.parse import parse_spec

EVERY_KIND = """
[factors.target]
version = [16, 18]
[factors.workload]
scale = [1, 2]
[factors.schema]
index = ["", "CREATE INDEX ON account (branch)"]
[factors.scenarios]
balance = { one = "", two = "" }
[factors.weights]
balance = [1, 2]
[factors.client]
threads = [1, 2]
[factors.client.settings]
jit = ["on", "off"]
[factors.postgres]
fsync = ["on", "off"]
[factors.host]
"vm.swappiness" = [1, 60]
[target]
allow_host_changes = true
[design]
combinations = "one-at-a-time"
"""


def test_every_table_of_factors_has_a_kind_and_every_factor_its_key_and_name() -> None:
    file = parse_spec(EVERY_KIND, source="lab.toml", beside=Path()).file
    found = written_factors(file.factors)
    assert [factor.kind for factor in found] == [
        k for k in KINDS.values() if k not in (QUERIES, LABEL)
    ]
    assert [(factor.key, factor.name) for factor in found] == [
        ("factors.target.version", "version"),
        ("factors.workload.scale", "scale"),
        ("factors.schema.index", "index"),
        ("factors.scenarios.balance", "balance"),
        ("factors.weights.balance", "weight of balance"),
        ("factors.client.threads", "threads"),
        ("factors.client.settings.jit", "jit"),
        ("factors.postgres.fsync", "fsync"),
        ("factors.host.vm.swappiness", "vm.swappiness"),
    ]
    tables = {field.alias or name for name, field in FactorsTable.model_fields.items()}
    assert tables == {kind.name.partition(".")[0] for kind in KINDS.values()} - {LABEL.name}


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_kind_that_cannot_alternate_says_why(kind: object) -> None:
    found = next(one for one in KINDS.values() if one is kind)
    never_or_in_part = found.alternates in (Alternates.NEVER, Alternates.KNOB)
    assert never_or_in_part == bool(found.no_switchback)
    assert not (found.applied is Applied.LOAD and found.is_hard("any"))
