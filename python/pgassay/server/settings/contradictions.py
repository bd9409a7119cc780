"""Settings that keep a server from starting when they come together.

Enters: what an arm asks for, what its server has. Leaves: a refusal for each contradiction.
Never: judges a value alone; the server does that, in its own words.

PostgreSQL looks at these only as it starts (PostmasterMain), and then ends: without this an arm
would be found out at its first restart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgassay.plan.demands import Demand
from pgassay.refusals.refusal import Refusal
from pgassay.server.protocol import Setting

MINIMAL_EXCLUDES = {"max_wal_senders": "0", "archive_mode": "off", "summarize_wal": "off"}
"""What each must be under wal_level = minimal."""
AS_MADE = {"wal_level": "replica", "max_wal_senders": "10", "archive_mode": "off"}
"""Of a server that initdb has just made."""
_OFF = frozenset({"off", "false", "no", "0", "f", "n"})


def contradictions(demand: Demand, has: Mapping[str, Setting]) -> Iterator[Refusal]:
    """Settings of an arm that together keep the server from starting."""
    wanted = demand.settings
    if not {"wal_level", *MINIMAL_EXCLUDES} & wanted.keys():
        return  # the server runs with what it has

    def value(name: str) -> str:
        found = has.get(name)
        return wanted.get(name, found.value if found else "").strip().lower()

    if value("wal_level") != "minimal":
        return
    for name, must in MINIMAL_EXCLUDES.items():
        shown = value(name)
        if shown and shown != must and not (must == "off" and shown in _OFF):
            values = {"of": "", "name": name, "must": must, "value": shown}
            yield Refusal("minimal-wal-level", demand.key_of("wal_level"), **values)
