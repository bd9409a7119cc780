"""Signs that others use an existing server, looked for before anything is changed.

Enters: a control session; the names of signs that the user accepts. Leaves: `Sign`s, or the
refusal `signs-of-production` with one line for each. Never: changes anything, nor stops at a view
that this user may not read.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import psycopg

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.spec.server.signs import LOOK_S, SIGNS

COMMITS = "commits"


@dataclass(frozen=True)
class Sign:
    """One sign of production that was found on a server."""

    name: str
    found: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.found}; {self.why}"


def look_for_signs(session: Connection, without: Collection[str] = ()) -> list[Sign]:
    """Returns every sign of production that a server gives, except those in `without`."""
    began, before = time.monotonic(), _commits(session, without)
    counts = {
        name: _ask(session, name) for name in SIGNS if name != COMMITS and name not in without
    }
    if before is not None:
        time.sleep(max(0.0, LOOK_S - (time.monotonic() - began)))
        after, seconds = _commits(session, without), time.monotonic() - began
        counts[COMMITS] = (max(0, (after or 0) - before), f"{seconds:.1f} s")
    return [
        Sign(name, sign.found.format(count=counts[name][0], seen=counts[name][1]), sign.why)
        for name, sign in SIGNS.items()
        if name in counts and counts[name][0] >= sign.at_least
    ]


def refuse_signs(signs: Iterable[Sign], where: str) -> None:
    """Refuses a server that has any signs, with a line for each."""
    found = list(signs)
    if not found:
        return
    accept = ", ".join(f'"{sign.name}"' for sign in found)
    refusal = TargetRefused("signs-of-production", server=where, accept=accept)
    lines = (f'  {sign}; accept = ["{sign.name}"] overrides this sign' for sign in found)
    refusal.excerpt = "\n".join(lines)
    raise refusal


def _commits(session: Connection, without: Collection[str]) -> int | None:
    return None if COMMITS in without else _ask(session, COMMITS)[0]


def _ask(session: Connection, name: str) -> tuple[int, str]:
    """How many, and which; none where this user may not know or this version has no such view."""
    with contextlib.suppress(psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable):
        row = session.execute(statement(f"signs/{name}"), prepare=False).fetchone()
        if row is not None:
            return int(row[0]), _one_line(str(row[1] or "")) if len(row) > 1 else ""
    return 0, ""


def _one_line(text: str) -> str:
    """Names come from the server, and may hold anything."""
    printable = "".join(character if character.isprintable() else "?" for character in text)
    return printable if len(printable) <= 200 else printable[:197] + "..."
