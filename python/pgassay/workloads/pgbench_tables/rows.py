"""Generate the rows of pgbench's tables in COPY's text format.

Enters: the scale. Leaves: chunks of text with their numbers of rows.
Never: touches a server.

Source: PostgreSQL documentation, "pgbench": 1 branch, 10 tellers, 100 000 accounts per unit of
scale; every balance 0, a filler of blanks in accounts, none in the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

TELLERS = 10
ACCOUNTS = 100_000
_CHUNK = 10_000


def rows(table: str, scale: int) -> Iterator[tuple[int, str]]:
    """(rows, text) of each chunk."""
    match table:
        case "pgbench_branches":
            yield from _chunks(scale, lambda bid: f"{bid}\t0\t\\N\n")
        case "pgbench_tellers":
            count = scale * TELLERS
            yield from _chunks(count, lambda tid: f"{tid}\t{(tid - 1) // TELLERS + 1}\t0\t\\N\n")
        case "pgbench_accounts":
            count = scale * ACCOUNTS
            yield from _chunks(count, lambda aid: f"{aid}\t{(aid - 1) // ACCOUNTS + 1}\t0\t\n")
        case _:
            raise ValueError(f"{table} begins empty")


def _chunks(count: int, row: Callable[[int], str]) -> Iterator[tuple[int, str]]:
    for first in range(1, count + 1, _CHUNK):
        end = min(first + _CHUNK, count + 1)
        yield end - first, "".join(map(row, range(first, end)))
