"""What tells two servers with one system identifier apart."""

from __future__ import annotations

import pytest

from pgassay.target.protocol import ConnectionParameters
from pgassay.target.seat import Seat, _address

DATA, OTHER = "/srv/pg/15", "/srv/pg/copy"


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (Seat(), Seat(DATA, "localhost:5432", "db1"), False),
        (Seat(DATA, "localhost:5432"), Seat(DATA, "localhost:5432"), False),
        (Seat(DATA, "localhost:5432"), Seat(OTHER, "localhost:5432"), True),
        # Containers have one path, virtual machines one path and one port.
        (Seat(DATA, "localhost:5432"), Seat(DATA, "localhost:5433"), True),
        (Seat(DATA, "10.0.0.1:5432"), Seat(DATA, "10.0.0.2:5432"), True),
        (Seat("", "10.0.0.1:5432"), Seat(DATA, "10.0.0.1:5432"), False),
        # Two tunnels to one host, and one end of a tunnel for two hosts.
        (Seat(DATA, "localhost:6000", "db1"), Seat(DATA, "localhost:6001", "db1"), False),
        (Seat(DATA, "localhost:6000", "db1"), Seat(DATA, "localhost:6000", "db2"), True),
        (Seat(DATA, "localhost:6000", "db1"), Seat(DATA, "localhost:6000"), False),
    ],
)
def test_two_are_apart_where_something_says_so(one: Seat, other: Seat, apart: bool) -> None:
    assert one.is_apart(other) is apart
    assert other.is_apart(one) is apart


@pytest.mark.parametrize(
    ("host", "hostaddr", "address"),
    [
        ("/var/run/postgresql", "", "localhost:5432"),
        ("@abstract", "", "localhost:5432"),
        ("db1", "127.0.0.1", "localhost:5432"),
        ("db1", "192.0.2.1", "192.0.2.1:5432"),
    ],
)
def test_all_ways_within_this_machine_are_one(host: str, hostaddr: str, address: str) -> None:
    reached = ConnectionParameters(host, 5432, "lab", "lab", hostaddr=hostaddr)
    assert _address(reached) == address
