"""Which sequences of a log are drawn."""

from __future__ import annotations

from pgassay.draw.log.choosing import Transactions, chosen
from pgassay.draw.log.texts import Text


def sequence(
    sql: str,
    transactions: float,
    time_us: int,
    *more: str,
    rolled_back: bool = False,
    place: int = 0,
) -> Transactions:
    texts = [Text(one, parameters=1, constants=0, data=True) for one in (sql, *more)]
    done = [(time_us // len(texts), 0)] * len(texts)
    return Transactions(
        [(place, 0)], texts, bool(more), rolled_back, transactions, time_us, done, []
    )


def test_what_is_often_called_is_drawn_although_it_takes_no_time() -> None:
    report = sequence("SELECT count(*) FROM a", 6, 995_000)
    key, rare = sequence("SELECT 1 FROM b", 990, 4_000), sequence("SELECT 1 FROM c", 4, 1_000)
    found = [rare, key, report]
    assert chosen(found, 50, timed=True) == ([report, key], [rare])
    assert chosen(found, 50, timed=False) == ([key], [report, rare])


def test_beyond_the_limit_statements_are_drawn_by_themselves() -> None:
    common = sequence("SELECT 1 FROM a", 100, 100)
    tail = [
        sequence("SELECT 2 FROM b", 30, 30, "UPDATE c SET d = $1", place=1),
        sequence("UPDATE c SET d = $1", 20, 20, place=2),
        sequence("DELETE FROM e", 10, 10, rolled_back=True, place=3),
    ]
    drawn, lost = chosen([common, *tail], 1, timed=True)
    assert drawn[0] is common
    (single,) = drawn[1:]
    assert (single.is_single, single.explicit, single.transactions) == (True, False, 50)
    assert [text.text for text in single.texts] == ["UPDATE c SET d = $1"]
    assert (single.parts, single.done) == ([(1, 1), (2, 0)], [(35, 0)])
    assert sorted(one.texts[0].text for one in lost) == ["DELETE FROM e", "SELECT 2 FROM b"]
