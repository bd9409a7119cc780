"""Which sequences of a log are drawn."""

from __future__ import annotations

from pgassay.draw.log.choosing import Transactions, chosen
from pgassay.draw.log.texts import Text


def sequence(sql: str, transactions: float, time_us: int) -> Transactions:
    text = Text(sql, parameters=0, constants=0, data=True)
    return Transactions(0, [text], False, False, transactions, time_us, [], [])


def test_what_is_often_called_is_drawn_although_it_takes_no_time() -> None:
    report = sequence("SELECT count(*) FROM a", 6, 995_000)
    key, rare = sequence("SELECT 1 FROM b", 990, 4_000), sequence("SELECT 1 FROM c", 4, 1_000)
    found = [rare, key, report]
    assert chosen(found, 50, timed=True) == ([report, key], [rare])
    assert chosen(found, 50, timed=False) == ([key], [report, rare])
    assert chosen(found, 1, timed=True) == ([report], [key, rare])
