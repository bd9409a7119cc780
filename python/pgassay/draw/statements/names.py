"""Readable names of scenarios and of variables of a script.

Enters: what the parameters of a statement meet. Leaves: names. Never: takes a value into a name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from pgassay.draw.model import Role
from pgassay.draw.statements.meetings import Meeting, Met
from pgassay.draw.statements.parsing import Node

_RESERVED = {"client_id", "scale", "random_seed", "default_seed"}
"""Variables that a script has by itself."""
_MOST_NAMED = 2
"""Tables and columns in the name of a scenario."""
_MOST_LETTERS = 60
_NAMED_BY = {Role.LIMIT: "limit_rows", Role.OFFSET: "offset_rows", Role.FIELD: "field"}


def variables(meetings: Iterable[Meeting], taken: Collection[str] = ()) -> dict[int, str]:
    """Returns the variable of each parameter, unlike each other and those taken: its column's name
    in lower case where it has one."""
    names: dict[int, str] = {}
    used = {*_RESERVED, *taken}
    for meeting in meetings:
        name = _variable(meeting)
        found = next(one for one in _numbered(name, "_") if one not in used)
        names[meeting.number] = found
        used.add(found)
    return names


def scenario(tree: Node, met: Met) -> str:
    """Returns what a statement does to which tables by which columns, as
    "select-orders-by-customer"; letters, digits and hyphens."""
    words = [type(tree).__name__.removesuffix("Stmt")]
    words += [one.name for one in met.tables[:_MOST_NAMED]]
    looked_up = [one.column.name for one in met.meetings if one.column and _looks_up(one)]
    if looked_up:
        words += ["by", *list(dict.fromkeys(looked_up))[:_MOST_NAMED]]
    said = "-".join(filter(None, (_plain(word, "-") for word in words)))
    return said[:_MOST_LETTERS].strip("-")


def apart(name: str, taken: Collection[str]) -> str:
    """Returns the name, with a number behind it where it is taken."""
    return next(one for one in _numbered(name, "-") if one not in taken)


def _looks_up(meeting: Meeting) -> bool:
    return meeting.role not in {Role.VALUES, Role.SET, Role.ITEM, Role.TEXT_ITEM}


def _variable(meeting: Meeting) -> str:
    name = meeting.column.name if meeting.column else meeting.near
    name = _plain(_NAMED_BY.get(meeting.role, name), "_")
    if meeting.role is Role.BETWEEN:
        name = f"{name}_to" if meeting.upper else f"{name}_from"
    return name if name and not name[0].isdigit() else f"p{meeting.number}{name}"


def _plain(name: str, between: str) -> str:
    return re.sub(r"[^a-z0-9]+", between, name.lower()).strip(between)


def _numbered(name: str, between: str) -> Iterable[str]:
    yield name
    number = 2
    while True:
        yield f"{name}{between}{number}"
        number += 1
