"""A web shop's clients, as an application would be written: `python -m bench.own_load.client DSN`.

Enters: a server with schema.sql, how many clients, how long, how long they think. Leaves: the load,
one line of JSON about it, and on request a log of its pages as pgbench -l writes one. Never: knows
of pgassay.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import random
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

CUSTOMERS, PRODUCTS, ORDERS = 50_000, 20_000, 300_000
Session = psycopg.Connection[Any]


def skewed(chance: random.Random, rows: int) -> int:
    """A row's number, of which few are asked for often (Pareto with shape 1.2)."""
    return min(rows, int(chance.paretovariate(1.2) * rows / 500) + 1)


def customer_id(chance: random.Random) -> UUID:
    """The key of a customer."""
    number = skewed(chance, CUSTOMERS)
    return UUID(hashlib.md5(f"customer{number}".encode(), usedforsecurity=False).hexdigest())


def customer_page(session: Session, chance: random.Random) -> None:
    """A customer with the last orders."""
    who = customer_id(chance)
    session.execute(
        'SELECT email, "displayName", tags FROM customer WHERE id = %s', (who,)
    ).fetchone()
    session.execute(
        'SELECT id, state, placed FROM "Order" WHERE customer_id = %s'
        " ORDER BY placed DESC LIMIT 10",
        (who,),
    ).fetchall()


def product_page(session: Session, chance: random.Random) -> None:
    """A product, and how often it was bought."""
    product = skewed(chance, PRODUCTS)
    session.execute("SELECT name, price, attributes FROM product WHERE id = %s", (product,))
    session.execute(
        "SELECT count(*), sum(quantity) FROM order_line WHERE product_id = %s", (product,)
    ).fetchone()


def search(session: Session, chance: random.Random) -> None:
    """Products of a colour and a weight."""
    wanted = {"color": chance.choice(["red", "green", "blue"]), "weight": chance.randrange(50)}
    session.execute(
        "SELECT id, name FROM product WHERE attributes @> %s ORDER BY price LIMIT 20",
        (Jsonb(wanted),),
    ).fetchall()


def price_range(session: Session, chance: random.Random) -> None:
    """The cheapest in a range of prices."""
    low = chance.randrange(100)
    session.execute(
        "SELECT id, name, price FROM product WHERE price BETWEEN %s AND %s ORDER BY price LIMIT 50",
        (low, low + 2),
    ).fetchall()


def several(session: Session, chance: random.Random) -> None:
    """A basket of products by their keys."""
    keys = [skewed(chance, PRODUCTS) for _ in range(5)]
    session.execute("SELECT id, price, stock FROM product WHERE id = ANY(%s)", (keys,)).fetchall()


def buy(session: Session, chance: random.Random) -> None:
    """A new order of two products."""
    with session.transaction():
        (order,) = session.execute(
            'INSERT INTO "Order" (customer_id, state, note) VALUES (%s, %s, %s) RETURNING id',
            (customer_id(chance), "new", chance.choice([None, "by post", "as a present"])),
        ).fetchall()[0]
        # In one order, so that two baskets never wait for each other's products.
        products = sorted(skewed(chance, PRODUCTS) for _ in range(2))
        for line, product in enumerate(products, start=1):
            session.execute(
                "INSERT INTO order_line (order_id, line, product_id, quantity)"
                " VALUES (%s, %s, %s, %s)",
                (order, line, product, chance.randrange(1, 4)),
            )
            session.execute("UPDATE product SET stock = stock - %s WHERE id = %s", (1, product))


def ship(session: Session, chance: random.Random) -> None:
    """An order goes on."""
    session.execute(
        'UPDATE "Order" SET state = %s WHERE id = %s',
        (chance.choice(["paid", "packed", "sent"]), chance.randrange(1, ORDERS)),
    )


def sales(session: Session, chance: random.Random) -> None:
    """Sales by country of a day."""
    day = f"2025-{chance.randrange(1, 13):02d}-{chance.randrange(1, 28):02d}"
    session.execute(
        'SELECT c.country, count(*) FROM "Order" AS o JOIN customer AS c ON c.id = o.customer_id'
        " WHERE o.placed >= %s::date AND o.placed < %s::date + 1 GROUP BY c.country",
        (day, day),
    ).fetchall()


def best_customers(session: Session, chance: random.Random) -> None:
    """Who ordered most in a month, which takes memory to group."""
    first = f"2025-{chance.randrange(1, 13):02d}-{chance.randrange(1, 28):02d}"
    session.execute(
        'SELECT customer_id, count(*) FROM "Order"'
        " WHERE placed >= %s::date AND placed < %s::date + 30"
        " GROUP BY customer_id ORDER BY count(*) DESC, customer_id LIMIT 10",
        (first, first),
    ).fetchall()


PAGES: Sequence[tuple[Callable[[Session, random.Random], None], float]] = (
    (customer_page, 30),
    (product_page, 30),
    (search, 6),
    (price_range, 8),
    (several, 12),
    (buy, 10),
    (ship, 6),
    (sales, 2),
    (best_customers, 1),
)


@dataclass(frozen=True)
class Work:
    """What one client does."""

    dsn: str
    number: int
    seed: int
    until: float
    pause_s: float
    log: Path | None
    """Begins the names of the clients' logs."""


def one_client(work: Work) -> int:
    """Runs pages until the time, or SIGTERM; returns how many."""
    chance = random.Random(work.seed * 1000 + work.number)
    lines, stops = list[str](), list[int]()
    signal.signal(signal.SIGTERM, lambda number, frame: stops.append(number))
    calls, weights = zip(*PAGES, strict=True)
    numbers = range(len(calls))
    with psycopg.connect(work.dsn, autocommit=True, application_name="shop") as session:
        while time.time() < work.until and not stops:
            (which,) = chance.choices(numbers, weights)
            began = time.perf_counter_ns()
            calls[which](session, chance)
            took_us = (time.perf_counter_ns() - began) // 1000
            seconds, fraction = divmod(time.time_ns(), 1_000_000_000)
            place = f"{which} {seconds} {fraction // 1000}"
            lines.append(f"{work.number} {len(lines)} {took_us} {place}\n")
            if work.pause_s:
                time.sleep(chance.expovariate(1 / work.pause_s))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if work.log is not None:
        Path(f"{work.log}.{work.number + 1}").write_text("".join(lines))
    return len(lines)


def main() -> None:
    """Runs all clients."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("dsn")
    words.add_argument("--clients", type=int, default=4)
    words.add_argument("--seconds", type=float, default=30)
    words.add_argument("--pause", type=float, default=0.0, help="mean seconds between two pages")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--log", type=Path, help="begins the names of logs as pgbench -l writes")
    asked = words.parse_args()
    until = time.time() + asked.seconds
    shares = [
        Work(asked.dsn, number, asked.seed, until, asked.pause, asked.log)
        for number in range(asked.clients)
    ]
    with multiprocessing.Pool(asked.clients) as clients:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the clients end, and are waited for
        done = sum(clients.map(one_client, shares, chunksize=1))
    print(json.dumps({"transactions": done, "tps": done / asked.seconds}))


if __name__ == "__main__":
    main()
