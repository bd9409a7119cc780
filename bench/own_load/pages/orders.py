"""Pages of a wholesaler on the tables of `orders`, as a program would send them: statement by
statement, with loops over the lines of a purchase.

Enters: a session, chance. Leaves: the statements of a page. Never: knows of pgassay, or of the
scripts of the workload of that name.
"""

from __future__ import annotations

import random
from typing import Any

from bench.own_load.pages.page import Pages, Session

WAREHOUSES = 2
DISTRICTS, CUSTOMERS, PRODUCTS = 10, 3000, 100_000
SYLLABLES = ("Ka", "Lom", "Mir", "Ne", "Pul", "Ras", "So", "Tev", "Vin", "Zol")


def uneven(chance: random.Random, mask: int, most: int) -> int:
    """A number from 1, of which some are drawn more often (TPC-C's NURand)."""
    return ((chance.randrange(mask + 1) | chance.randrange(1, most + 1)) + 577) % most + 1


def place(chance: random.Random) -> tuple[int, int]:
    """A warehouse, and a district of it."""
    return chance.randrange(1, WAREHOUSES + 1), chance.randrange(1, DISTRICTS + 1)


def a_name(chance: random.Random) -> str:
    """A last name."""
    number = uneven(chance, 255, 1000) - 1
    return "".join(SYLLABLES[number // step % 10] for step in (100, 10, 1))


def customer_of(session: Session, chance: random.Random, at: tuple[int, int]) -> int:
    """Finds a customer by number or, more often, by name."""
    if chance.random() < 0.4:
        return uneven(chance, 1023, CUSTOMERS)
    found = session.execute(
        "SELECT id FROM customer WHERE warehouse_id = %s AND district_id = %s AND last_name = %s"
        " ORDER BY first_name",
        (*at, a_name(chance)),
    ).fetchall()
    return int(found[len(found) // 2][0])


def buy(session: Session, chance: random.Random) -> None:
    """A purchase of five to fifteen products."""
    at = place(chance)
    customer = uneven(chance, 1023, CUSTOMERS)
    # In one order, so that two purchases never wait for each other's stock.
    products = sorted({uneven(chance, 8191, PRODUCTS) for _ in range(chance.randrange(5, 16))})
    with session.transaction():
        session.execute("SELECT tax FROM warehouse WHERE id = %s", at[:1]).fetchone()
        session.execute(
            "SELECT discount, last_name, credit FROM customer"
            " WHERE warehouse_id = %s AND district_id = %s AND id = %s",
            (*at, customer),
        ).fetchone()
        (number,) = one_row(
            session,
            "UPDATE district SET next_purchase = next_purchase + 1"
            " WHERE warehouse_id = %s AND id = %s RETURNING next_purchase - 1 AS purchase_id",
            at,
        )
        session.execute(
            "INSERT INTO purchase (warehouse_id, district_id, id, customer_id, placed_at,"
            " line_count, all_local) VALUES (%s, %s, %s, %s, now(), %s, true)",
            (*at, number, customer, len(products)),
        )
        session.execute("INSERT INTO open_purchase VALUES (%s, %s, %s)", (*at, number))
        for line, product in enumerate(products, start=1):
            take(session, (*at, number), line, product, chance.randrange(1, 11))


def take(
    session: Session, purchase: tuple[int, int, int], line: int, product: int, quantity: int
) -> None:
    """A line of a purchase."""
    warehouse, district, _ = purchase
    (price,) = one_row(session, "SELECT price FROM product WHERE id = %s", (product,))
    (label,) = one_row(
        session,
        "SELECT labels[%s] FROM stock WHERE warehouse_id = %s AND product_id = %s FOR UPDATE",
        (district, warehouse, product),
    )
    session.execute(
        "UPDATE stock SET sold = sold + %s, purchases = purchases + 1,"
        " quantity = quantity - %s + CASE WHEN quantity < %s + 10 THEN 91 ELSE 0 END"
        " WHERE warehouse_id = %s AND product_id = %s",
        (quantity, quantity, quantity, warehouse, product),
    )
    session.execute(
        "INSERT INTO purchase_line (warehouse_id, district_id, purchase_id, number, product_id,"
        " supplier_id, quantity, amount, label) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (*purchase, line, product, warehouse, quantity, quantity * price, label),
    )


def pay(session: Session, chance: random.Random) -> None:
    """A customer pays."""
    at = place(chance)
    amount = chance.randrange(100, 500_000) / 100
    with session.transaction():
        customer = customer_of(session, chance, at)
        session.execute(
            "UPDATE warehouse SET received = received + %s WHERE id = %s", (amount, at[0])
        )
        session.execute(
            "UPDATE district SET received = received + %s WHERE warehouse_id = %s AND id = %s",
            (amount, *at),
        )
        session.execute(
            "UPDATE customer SET balance = balance - %s, paid = paid + %s, payments = payments + 1"
            " WHERE warehouse_id = %s AND district_id = %s AND id = %s",
            (amount, amount, *at, customer),
        )
        session.execute(
            "INSERT INTO payment VALUES (%s, %s, %s, %s, %s, now(), %s, %s)",
            (*at, customer, *at, amount, "at the desk"),
        )


def status(session: Session, chance: random.Random) -> None:
    """The last purchase of a customer, with its lines."""
    at = place(chance)
    customer = customer_of(session, chance, at)
    found = session.execute(
        "SELECT id, placed_at, carrier FROM purchase WHERE warehouse_id = %s AND district_id = %s"
        " AND customer_id = %s ORDER BY id DESC LIMIT 1",
        (*at, customer),
    ).fetchone()
    if found is not None:
        session.execute(
            "SELECT product_id, quantity, amount, delivered_at FROM purchase_line"
            " WHERE warehouse_id = %s AND district_id = %s AND purchase_id = %s",
            (*at, found[0]),
        ).fetchall()


def deliver(session: Session, chance: random.Random) -> None:
    """The oldest open purchase of a district is delivered."""
    at = place(chance)
    with session.transaction():
        found = session.execute(
            "DELETE FROM open_purchase WHERE (warehouse_id, district_id, purchase_id) IN"
            " (SELECT warehouse_id, district_id, purchase_id FROM open_purchase"
            " WHERE warehouse_id = %s AND district_id = %s ORDER BY purchase_id LIMIT 1"
            " FOR UPDATE SKIP LOCKED) RETURNING purchase_id",
            at,
        ).fetchone()
        if found is not None:
            session.execute(
                "UPDATE purchase SET carrier = %s"
                " WHERE warehouse_id = %s AND district_id = %s AND id = %s",
                (chance.randrange(1, 11), *at, found[0]),
            )
            session.execute(
                "UPDATE purchase_line SET delivered_at = now()"
                " WHERE warehouse_id = %s AND district_id = %s AND purchase_id = %s",
                (*at, found[0]),
            )


def low_stock(session: Session, chance: random.Random) -> None:
    """How many products of the last purchases of a district are nearly sold out."""
    at = place(chance)
    (number,) = one_row(
        session, "SELECT next_purchase FROM district WHERE warehouse_id = %s AND id = %s", at
    )
    session.execute(
        "SELECT count(DISTINCT s.product_id) FROM purchase_line AS l"
        " JOIN stock AS s ON s.warehouse_id = l.warehouse_id AND s.product_id = l.product_id"
        " WHERE l.warehouse_id = %s AND l.district_id = %s AND l.purchase_id >= %s"
        " AND l.purchase_id < %s AND s.quantity < %s",
        (*at, number - 20, number, chance.randrange(10, 21)),
    ).fetchone()


def one_row(session: Session, text: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row that a statement returns."""
    (found,) = session.execute(text.encode(), values).fetchall()
    return tuple(found)


PAGES: Pages = ((buy, 45), (pay, 43), (status, 4), (deliver, 4), (low_stock, 4))
