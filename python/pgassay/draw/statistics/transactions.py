"""Statements that the user says are one transaction, which the statistics do not know.

Enters: a TOML file, the drawn statements. Leaves: groups of them with how often they happened.
Never: guesses which statements belong together.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pgassay.draw.model import Figures
from pgassay.draw.statistics.statement import Statement
from pgassay.refusals.refusal import SetupRefused

_KEPT_APART = 0.05
"""Share of a statement's calls outside of transactions from which they are a scenario."""


class Transaction(BaseModel):
    """Statements that clients run as one."""

    model_config = ConfigDict(extra="forbid")
    name: str = ""
    statements: list[int | str] = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    transaction: list[Transaction] = Field(min_length=1)


class Group(NamedTuple):
    """What clients run as one."""

    name: str
    """Empty where the user gave none."""
    statements: tuple[Statement, ...]
    explicit: bool
    happened: int
    """How often, in the time drawn."""


def grouped(statements: Sequence[Statement], file: Path | None) -> list[Group]:
    """Returns each statement as a transaction of its own, but for those that the file groups.

    A group happened as often as the least called of its statements allows. What the others were
    called beyond that stays a transaction of its own, with its share of the figures. Raises
    SetupRefused.
    """
    left = Counter({one.query_id: one.figures.calls for one in statements})
    groups: list[Group] = []
    for wanted in read_transactions(file) if file else ():
        own = tuple(_found(one, statements, file) for one in wanted.statements)
        times = Counter(one.query_id for one in own)
        count = min(left[query_id] // number for query_id, number in times.items())
        if count == 0:
            raise SetupRefused("draw-transaction-without-calls", str(file), name=_said(wanted))
        for query_id, number in times.items():
            left[query_id] -= count * number
        parts = tuple(_part(one, count) for one in own)
        groups.append(Group(wanted.name, parts, explicit=True, happened=count))
    for one in statements:
        rest = left[one.query_id]
        if rest == one.figures.calls:
            groups.append(Group("", (one,), explicit=False, happened=rest))
        elif rest > _KEPT_APART * one.figures.calls:
            groups.append(Group("", (_part(one, rest),), explicit=False, happened=rest))
    return groups


def read_transactions(file: Path) -> list[Transaction]:
    """Returns what a file groups; raises SetupRefused."""
    try:
        return _File.model_validate(tomllib.loads(file.read_text("utf-8"))).transaction
    except (OSError, UnicodeDecodeError) as error:
        raise SetupRefused(
            "draw-transactions-unreadable", str(file), why=type(error).__name__
        ) from None
    except (tomllib.TOMLDecodeError, ValidationError):
        raise SetupRefused("draw-transactions-form", str(file)) from None


def _found(wanted: int | str, statements: Sequence[Statement], file: Path | None) -> Statement:
    """The statement of that queryid, or the only one whose text begins so."""
    text = _plain(str(wanted))
    of_id = [one for one in statements if text in map(str, one.query_ids)]
    found = of_id or [one for one in statements if _plain(one.source_text).startswith(text)]
    if len(found) != 1:
        code = "draw-transaction-ambiguous" if found else "draw-transaction-unknown"
        raise SetupRefused(code, str(file), text=str(wanted)[:80])
    return found[0]


def _part(statement: Statement, calls: int) -> Statement:
    """The statement with the figures of a part of its calls."""
    had = statement.figures
    share = calls / had.calls

    counts: dict[str, Any] = {
        name: None if (value := getattr(had, name)) is None else round(value * share)
        for name in ("rows", "blocks_found", "blocks_read", "blocks_dirtied", "wal_bytes")
    }
    figures = Figures(calls, had.time_ms * share, **counts)
    return replace(statement, figures=figures)


def _said(wanted: Transaction) -> str:
    return wanted.name or str(wanted.statements[0])[:80]


def _plain(text: str) -> str:
    return " ".join(text.split()).lower()
