"""Pages of a web shop: uuid, jsonb, arrays, enums, partitions and triggers (schema.sql).

Enters: a session, chance. Leaves: the statements of a page, as an application sends them.
Never: knows of pgassay.
"""

from __future__ import annotations

import hashlib
import random
from uuid import UUID

from psycopg.types.json import Jsonb

from bench.own_load.pages.page import Pages, Session

CUSTOMERS, PRODUCTS, ORDERS = 50_000, 20_000, 300_000


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


PAGES: Pages = (
    (customer_page, 30),
    (product_page, 30),
    (search, 6),
    (price_range, 8),
    (several, 12),
    (buy, 30),
    (ship, 10),
    (sales, 2),
    (best_customers, 2),
)
