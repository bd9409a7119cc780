"""Pages of an airline on the tables of `airline`: looking flights up, booking, changing.

Enters: a session, chance. Leaves: the statements of a page. Never: knows of pgassay, or of the
scripts of the workload of that name.
"""

from __future__ import annotations

import random
import string
from datetime import UTC, datetime, timedelta

from bench.own_load.pages.page import Pages, Session

AIRPORTS, ROUTES, FLIGHTS = 1000, 2000, 34_000
FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)
AIRPLANES = ("319", "320", "321", "332", "359", "738", "763", "77W", "DH4", "E90")
LETTERS = string.digits + string.ascii_uppercase


def an_airport(chance: random.Random) -> str:
    """The code of an airport; a few are asked for often."""
    number = min(AIRPORTS - 1, int(chance.paretovariate(1.1)) - 1)
    code = number * 7919 % 17576
    return "".join(chr(65 + code // step % 26) for step in (676, 26, 1))


def a_day(chance: random.Random) -> datetime:
    """A day of the month that the tables have."""
    return FIRST_DAY + timedelta(days=chance.randrange(30))


def a_route(chance: random.Random) -> str:
    """The number of a route."""
    return f"PG{chance.randrange(1, ROUTES + 1):04d}"


def airport(session: Session, chance: random.Random) -> None:
    """An airport by its code."""
    session.execute(
        "SELECT airport_name, city, country, coordinates FROM airports_data"
        " WHERE airport_code = %s",
        (an_airport(chance),),
    ).fetchone()


def city(session: Session, chance: random.Random) -> None:
    """The airports of a city, whose names have no index."""
    session.execute(
        "SELECT airport_code, airport_name ->> 'en' FROM airports_data WHERE city ->> 'en' = %s",
        (f"City {chance.randrange(AIRPORTS)}",),
    ).fetchall()


def departures(session: Session, chance: random.Random) -> None:
    """The routes that leave an airport on a day."""
    session.execute(
        "SELECT route_no, arrival_airport, scheduled_time, duration FROM routes"
        " WHERE departure_airport = %s AND validity @> %s::timestamptz ORDER BY scheduled_time",
        (an_airport(chance), a_day(chance)),
    ).fetchall()


def flights(session: Session, chance: random.Random) -> None:
    """The flights of a route in a week, with the seats that remain."""
    day = a_day(chance)
    session.execute(
        "SELECT f.flight_id, f.status, f.scheduled_departure, r.available"
        " FROM flights AS f LEFT JOIN seats_remain AS r USING (flight_id)"
        " WHERE f.route_no = %s AND f.scheduled_departure >= %s AND f.scheduled_departure < %s"
        " ORDER BY f.scheduled_departure",
        (a_route(chance), day, day + timedelta(days=7)),
    ).fetchall()


def cabin(session: Session, chance: random.Random) -> None:
    """The seats of some airplanes by class."""
    session.execute(
        "SELECT fare_conditions, count(*) FROM seats WHERE airplane_code = ANY(%s)"
        " GROUP BY fare_conditions",
        (chance.sample(AIRPLANES, chance.randrange(1, 4)),),
    ).fetchall()


def book(session: Session, chance: random.Random) -> None:
    """A booking whose reference the program makes."""
    reference = "".join(chance.choice(LETTERS) for _ in range(6))
    with session.transaction():
        session.execute(
            "INSERT INTO bookings (book_ref, book_date, total_amount) VALUES (%s, %s, %s)",
            (reference, datetime.now(UTC), chance.randrange(2000, 90000) / 100),
        )
        session.execute(
            "UPDATE seats_remain SET available = available - 1 WHERE flight_id = %s"
            " AND available > 0",
            (chance.randrange(1, FLIGHTS),),
        )
        session.execute("SELECT total_amount FROM bookings WHERE book_ref = %s", (reference,))


def delayed(session: Session, chance: random.Random) -> None:
    """How many flights of a day left late."""
    day = a_day(chance)
    session.execute(
        "SELECT status, count(*) FROM flights WHERE scheduled_departure BETWEEN %s AND %s"
        " AND actual_departure > scheduled_departure + %s GROUP BY status",
        (day, day + timedelta(days=1), timedelta(minutes=chance.choice((10, 30, 60)))),
    ).fetchall()


def newest(session: Session, chance: random.Random) -> None:
    """The newest bookings, for which all are read."""
    session.execute(
        "SELECT book_ref, total_amount FROM bookings WHERE total_amount > %s"
        " ORDER BY book_date DESC LIMIT 20",
        (chance.randrange(100, 900),),
    ).fetchall()


PAGES: Pages = (
    (airport, 25),
    (departures, 25),
    (flights, 20),
    (cabin, 8),
    (book, 12),
    (city, 5),
    (delayed, 3),
    (newest, 2),
)
