"""Data that are drawn by chance are drawn alike wherever they are built."""

from __future__ import annotations

from typing import Any

from pgassay.server.owned.installation import Installation
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget
from pgassay.trials.environment.server_differences import contents_of
from pgassay.trials.run.preparing import builder
from pgassay.trials.run.testbeds import Dataset
from support.servers.lab import RecordingJournal

DRAWN = Dataset(
    "shop at scale 1",
    "CREATE TABLE item (id int, price float8 DEFAULT random());",
    "INSERT INTO item (id) SELECT generate_series(1, 500);"
    " CREATE TABLE sold AS SELECT id FROM item ORDER BY random() LIMIT 50;",
)


def built(installation: Installation, seed: int) -> dict[str, Any]:
    """The rows of a new server."""
    target = OwnedTarget(NewCluster(installation), RecordingJournal())
    try:
        target.open()
        target.prepare(builder(DRAWN, seed), {})
        return dict(contents_of(target))
    finally:
        target.close()


def test_two_servers_of_a_version_have_the_same_rows_and_another_seed_has_others(
    own_base: object, server_installation: Installation
) -> None:
    del own_base
    first = built(server_installation, 3)
    assert first == built(server_installation, 3)
    other = built(server_installation, 4)
    assert first.keys() == other.keys()
    assert all(first[table] != other[table] for table in first)
