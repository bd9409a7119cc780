"""Where metrics of an observation are served, and how waits are summed there."""

from __future__ import annotations

import pytest

from pgassay.cli.observe.metrics import address_of, sessions_by_class
from support.refusals import refused


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("9187", ("127.0.0.1", 9187)),
        ("192.0.2.1:9187", ("192.0.2.1", 9187)),
        ("localhost:65535", ("localhost", 65535)),
        ("[::1]:9187", ("::1", 9187)),
    ],
)
def test_an_address_is_loopback_unless_it_is_written_out(
    text: str, address: tuple[str, int]
) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize("text", ["", "0", "65536", ":9187", "::1:9187", "http://a:1", "a:b", "-1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with refused("metrics-address-form", "--metrics", text=text):
        address_of(text)


def test_sessions_are_summed_by_class() -> None:
    found = sessions_by_class({"CPU": 2.0, "Lock:tuple": 1.0, "Lock:transactionid": 0.5})
    assert found == {"cpu": 2.0, "lock": 1.5}
    assert sessions_by_class({}) == {"lock": 0.0}
