-- The tables and columns of Postgres Pro's demo database "bookings" (2025 edition) that the scripts
-- touch, and its generator's table of remaining seats. One unit of scale is 30 days of the airline:
-- 2 000 routes valid in them, about 34 000 flights and 100 000 bookings, about 16 MB. Airports (1 000),
-- airplanes (10) and their seats (2 145) stay the same at every scale.
CREATE TABLE airports_data (
    airport_code char(3) NOT NULL,
    airport_name jsonb   NOT NULL,
    city         jsonb   NOT NULL,
    country      jsonb   NOT NULL,
    coordinates  point   NOT NULL,
    timezone     text    NOT NULL
);

CREATE TABLE airplanes_data (
    airplane_code char(3) NOT NULL,
    model         jsonb   NOT NULL,
    range         int     NOT NULL CHECK (range > 0),
    speed         int     NOT NULL CHECK (speed > 0)
);

CREATE TABLE seats (
    airplane_code   char(3) NOT NULL,
    seat_no         text    NOT NULL,
    fare_conditions text    NOT NULL CHECK (fare_conditions IN ('Economy', 'Comfort', 'Business'))
);

CREATE TABLE routes (
    route_no          text      NOT NULL,
    validity          tstzrange NOT NULL,
    departure_airport char(3)   NOT NULL,
    arrival_airport   char(3)   NOT NULL,
    airplane_code     char(3)   NOT NULL,
    days_of_week      int[]     NOT NULL,
    scheduled_time    time      NOT NULL,
    duration          interval  NOT NULL
);

CREATE TABLE flights (
    flight_id           int         NOT NULL,
    route_no            text        NOT NULL,
    status              text        NOT NULL,
    scheduled_departure timestamptz NOT NULL,
    scheduled_arrival   timestamptz NOT NULL CHECK (scheduled_arrival > scheduled_departure),
    actual_departure    timestamptz,
    actual_arrival      timestamptz CHECK (actual_arrival > actual_departure)
);

CREATE TABLE bookings (
    book_ref     char(6)        NOT NULL,
    book_date    timestamptz    NOT NULL,
    total_amount numeric(10, 2) NOT NULL
);

CREATE TABLE seats_remain (
    flight_id int NOT NULL,
    available int NOT NULL CHECK (available >= 0)
);
