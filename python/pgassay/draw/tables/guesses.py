"""Values of which nothing is known but the type, and values that no row has yet.

Enters: types. Leaves: values in PostgreSQL's text form. Never: claims that they are like the
source's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pyarrow as pa

from pgassay.draw.tables.types import Type

INTEGERS = {"smallint": 2**15 - 1, "integer": 2**31 - 1, "bigint": 2**63 - 1}
"""Types with their highest values."""
_NUMBERS = {*INTEGERS, "numeric", "real", "double precision"}
_FLOATS = {"real", "double precision"}
TEXTS = {"text", "character varying", "character", "name", "citext"}
TIMES = {"date", "timestamp without time zone", "timestamp with time zone"}
_MOST = 100
_DAYS = 30
_RECENT = timedelta(days=1)
_VERSION = 14
"""The place of its digit in a uuid."""
_GAP = 10_000_000
"""Left free above the highest number, for what sequences of the copy give meanwhile."""
_SPREAD = 2_654_435_761
"""Odd, so that its multiples are all different within a number of hexadecimal digits."""
_CONSTANTS = {"json": "{}", "jsonb": "{}", "interval": "1 day", "bytea": r"\x00", "xml": "<a/>"}
_OTHERS = {"inet": "10.0.0.1", "cidr": "10.0.0.0/8", "macaddr": "08:00:2b:01:02:03"}
_MORE = {"tsquery": "a", "tsvector": "a", "time without time zone": "12:00:00", "bit": "0"}
_FIXED = {**_CONSTANTS, **_OTHERS, **_MORE}
Values = Sequence[str | None]


def guessed(kind: Type, rows: int, random: np.random.Generator) -> Values:
    """Returns values of a type: numbers of 1 to 100, times of the last 30 days; NULL of a type that
    is not known here."""
    if kind.element is not None:
        inner = guessed(Type(kind.element, labels=kind.labels), rows, random)
        return ["{}" if one is None else as_array([one]) for one in inner]
    if kind.labels:
        return [kind.labels[one] for one in random.integers(0, len(kind.labels), rows)]
    name = kind.plain
    if name in INTEGERS:
        return [str(one) for one in random.integers(1, _MOST + 1, rows)]
    if name in _NUMBERS:
        return [f"{one:.2f}" for one in random.uniform(1, _MOST, rows)]
    if name in TIMES:
        now = datetime.now(UTC).replace(microsecond=0)
        days = random.uniform(0, _DAYS, rows)
        return [_time(name, now - timedelta(days=float(one))) for one in days]
    if name in TEXTS:
        return [f"{one:x}" for one in random.integers(0, 16, rows)]
    if name == "boolean":
        return ["true" if one else "false" for one in random.integers(0, 2, rows)]
    if name == "uuid":
        return _uuids(rows, random)
    return [_FIXED.get(name)] * rows


def going_up(kind: str, columns: Sequence[Values]) -> Sequence[Values]:
    """Returns guesses of one type such that in each row they go up, as bounds do that one statement
    gives (`tstzrange($1, $2)`); unchanged those of a type that is neither a number nor a time."""
    if kind not in _NUMBERS and kind not in TIMES:
        return columns
    by = float if kind in _NUMBERS else str
    return list(zip(*(sorted(row, key=by) for row in zip(*columns, strict=True)), strict=True))


def can_be_new(kind: str) -> bool:
    """Whether `new_values` knows values of a type that no row has."""
    return kind in INTEGERS or kind in TEXTS or kind in TIMES or kind == "uuid"


def has_highest(kind: str) -> bool:
    """Whether new values of a type begin above the highest."""
    return kind in INTEGERS or kind in TIMES


def new_values(
    kind: str,
    rows: int,
    used: int,
    highest: str | None,
    like: Values,
    random: np.random.Generator,
    *,
    is_in_order: bool = False,
) -> Values:
    """Returns values, each different, that no row has: numbers and times above the highest, texts
    of the length of `like` that end in a number, uuids of the version that most of `like` have.

    `used` counts those that were taken before. Texts follow each other with `is_in_order` only.
    """
    if kind in INTEGERS:
        now, most = int(highest or 0), INTEGERS[kind]
        first = now + min(_GAP, (most - now) // 2) + 1 + used
        return [str(min(one, most)) for one in range(first, first + rows)]
    if kind in TIMES:
        clock = datetime.now(UTC)
        latest = max(clock, _moment(highest) or clock)
        return [_time(kind, latest + _step(kind, used + one)) for one in range(rows)]
    if kind == "uuid":
        of_time = sum(one is not None and one[_VERSION] == "7" for one in like) > len(like) / 2
        return _uuids_of_time(rows, used, random) if of_time else _uuids(rows, random)
    length = min((len(one) for one in like if one), default=8)
    tail = f"{used + rows:x}"
    digits = max(len(tail), min(length, 8))
    shapes = [one for one in like if one] or ["x" * length]
    step = 1 if is_in_order else _SPREAD
    return [
        shapes[number % len(shapes)][: max(0, length - digits)]
        + f"{(used + number) * step % 16**digits:0{digits}x}"
        for number in range(rows)
    ]


def times_of_new_rows(kind: str, rows: int, known: Values, *, is_in_order: bool) -> Values | None:
    """Returns what new rows have in a column of times: now, where the latest of the known values is
    of today; above that one, where the table's rows are in the column's order; else None."""
    latest = max((one for text in known if (one := _moment(text))), default=None)
    if kind not in TIMES or latest is None:
        return None
    now = datetime.now(UTC)
    is_recent = now - _RECENT <= latest <= now + _RECENT
    if not is_recent and not is_in_order:
        return None
    begins = max(now, latest) if is_recent else latest
    return [_time(kind, begins + timedelta(milliseconds=one + 1)) for one in range(rows)]


def as_array(values: Values) -> str:
    """Returns an array's text form."""
    quoted = (
        "NULL" if one is None else '"' + one.replace("\\", "\\\\").replace('"', '\\"') + '"'
        for one in values
    )
    return "{" + ",".join(quoted) + "}"


def a_key_of(document: str | None, random: np.random.Generator) -> str | None:
    """Returns one key of a JSON object; None of another document."""
    value = None if document is None else json.loads(document)
    if not isinstance(value, dict) or not value:
        return None
    return str(list(value)[int(random.integers(0, len(value)))])


def value_at(document: str | None, key: str | None) -> str | None:
    """Returns what `document ->> key` is; None where there is no such key."""
    whole = None if document is None else json.loads(document)
    value = whole.get(key) if isinstance(whole, dict) else None
    return value if value is None or isinstance(value, str) else json.dumps(value)


def a_pair_of(document: str | None, random: np.random.Generator) -> str | None:
    """Returns one key of a JSON object with its value, as an object; another document whole."""
    key = a_key_of(document, random)
    return document if key is None else json.dumps({key: json.loads(document or "")[key]})


def arrow(kind: str, values: Values) -> pa.Array:
    """Returns values of a type as int64, float64, bool, or text of all other types."""
    if kind in INTEGERS:
        return pa.array([None if one is None else int(one) for one in values], pa.int64())
    if kind in _FLOATS:
        return pa.array([None if one is None else float(one) for one in values], pa.float64())
    if kind == "boolean":
        return pa.array([None if one is None else one[0] == "t" for one in values], pa.bool_())
    return pa.array(list(values), pa.string())


def fits(column: str, kind: str) -> bool:
    """Whether the text of a column's value is one of the type of a parameter."""
    if column == kind or kind in TEXTS:
        return True
    if column in INTEGERS:
        return kind in _NUMBERS
    if column in _NUMBERS:
        return kind in _NUMBERS - {*INTEGERS}
    return column in TIMES and kind in TIMES


def _step(kind: str, number: int) -> timedelta:
    return timedelta(days=number + 1) if kind == "date" else timedelta(milliseconds=number + 1)


def _time(kind: str, moment: datetime) -> str:
    if kind == "date":
        return moment.strftime("%Y-%m-%d")
    return (moment if kind.endswith("with time zone") else moment.replace(tzinfo=None)).isoformat(
        " "
    )


def _moment(text: str | None) -> datetime | None:
    """The time of a value in ISO's form; None of another, such as infinity."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found.replace(tzinfo=found.tzinfo or UTC)


def _uuids_of_time(rows: int, used: int, random: np.random.Generator) -> Values:
    """Of version 7, in order."""
    now_ms = int(datetime.now(UTC).timestamp() * 1000) + used
    heads = ((now_ms + one).to_bytes(6, "big") for one in range(rows))
    whole = (UUID(bytes=head + random.bytes(10), version=4).hex for head in heads)
    return [str(UUID(f"{one[:12]}7{one[13:]}")) for one in whole]


def _uuids(rows: int, random: np.random.Generator) -> Values:
    return [str(UUID(bytes=random.bytes(16), version=4)) for _ in range(rows)]
