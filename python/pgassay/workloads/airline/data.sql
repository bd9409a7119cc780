-- Every value follows from its row's number, and nothing from random() or the time zone: the rows are
-- the same with every seed and on every version of PostgreSQL. A multiplier without a common factor
-- with the modulus spreads numbers and draws none twice. The first flights leave on 1 January 2025;
-- four fifths of the schedule are flown.
INSERT INTO airports_data
SELECT chr(65 + code / 676) || chr(65 + code / 26 % 26) || chr(65 + code % 26),
       jsonb_build_object('en', 'Airport ' || n, 'ru', 'Aeroport ' || n),
       jsonb_build_object('en', 'City ' || n, 'ru', 'Gorod ' || n),
       jsonb_build_object('en', 'Country ' || n % 40, 'ru', 'Strana ' || n % 40),
       point(n * 137 % 360 - 180, n * 71 % 140 - 70),
       'UTC'
  FROM generate_series(0, 999) AS n, LATERAL (SELECT n * 7919 % 17576 AS code) AS spread
 ORDER BY n;

WITH fleet (code, model, reach, speed, last_row, letters, business) AS (
    VALUES ('319', 'Airbus A319', 6900, 830, 24, 'ABCDEF', 3),
           ('320', 'Airbus A320', 6100, 830, 30, 'ABCDEF', 4),
           ('321', 'Airbus A321', 5900, 830, 36, 'ABCDEF', 5),
           ('332', 'Airbus A330-200', 13400, 870, 32, 'ABCDEFGH', 4),
           ('359', 'Airbus A350-900', 15000, 900, 35, 'ABCDEFGHK', 5),
           ('738', 'Boeing 737-800', 5400, 840, 31, 'ABCDEF', 4),
           ('763', 'Boeing 767-300', 11000, 850, 36, 'ABCDEFG', 4),
           ('77W', 'Boeing 777-300ER', 13600, 900, 42, 'ABCDEFGHJK', 6),
           ('DH4', 'Dash 8-400', 2000, 660, 19, 'ACDF', 1),
           ('E90', 'Embraer 190', 4500, 830, 25, 'ACDF', 2)
), airplanes AS (
    INSERT INTO airplanes_data
    SELECT code, jsonb_build_object('en', model, 'ru', model), reach, speed FROM fleet
)
INSERT INTO seats
SELECT code, seat_row || letter,
       CASE WHEN seat_row <= business THEN 'Business'
            WHEN seat_row <= 2 * business THEN 'Comfort'
            ELSE 'Economy' END
  FROM fleet, generate_series(1, last_row) AS seat_row, regexp_split_to_table(letters, '') AS letter
 ORDER BY code, seat_row, letter;

-- Two routes leave each airport, on 1 to 7 days a week, in each 30 days with another airplane.
WITH airports AS (
    SELECT airport_code AS code, row_number() OVER (ORDER BY ctid) - 1 AS number FROM airports_data
), airplanes AS (
    SELECT airplane_code AS code, row_number() OVER (ORDER BY ctid) - 1 AS number FROM airplanes_data
)
INSERT INTO routes
SELECT 'PG' || lpad(n::text, 4, '0'),
       tstzrange(starts, starts + interval '720 hours'),
       departure.code, arrival.code, airplanes.code,
       array(SELECT day FROM generate_series(1, 7) AS day
              WHERE (day * 3 + n / 7) % 7 <= n % 7 ORDER BY day),
       time '00:00' + n * 35 % 288 * interval '5 minutes',
       (5 + n * 13 % 60) * interval '10 minutes'
  FROM generate_series(0, :scale - 1) AS period
 CROSS JOIN generate_series(1, 2000) AS n
 CROSS JOIN LATERAL (
       SELECT timestamptz '2025-01-01 00:00+00' + period * interval '720 hours' AS starts
       ) AS calendar
  JOIN airports AS departure ON departure.number = n % 1000
  JOIN airports AS arrival ON arrival.number = (n % 1000 + 1 + n * 37 % 999) % 1000
  JOIN airplanes ON airplanes.number = (n + period) % 10
 ORDER BY period, n;

INSERT INTO flights
SELECT flight_id, route_no,
       CASE WHEN flight_id % 200 = 0 THEN 'Cancelled'
            WHEN departed + duration < today THEN 'Arrived'
            WHEN departed < today THEN 'Departed'
            WHEN scheduled < today + interval '24 hours' THEN 'On Time'
            ELSE 'Scheduled' END,
       scheduled, scheduled + duration,
       CASE WHEN flight_id % 200 > 0 AND departed < today THEN departed END,
       CASE WHEN flight_id % 200 > 0 AND departed + duration < today THEN departed + duration END
  FROM (SELECT row_number() OVER (ORDER BY scheduled, route_no) AS flight_id, timetable.*
          FROM (SELECT route_no, duration, date + scheduled_time::interval AS scheduled,
                       timestamptz '2025-01-01 00:00+00' + :scale * interval '576 hours' AS today
                  FROM routes
                 CROSS JOIN generate_series(0, 29) AS day
                 CROSS JOIN LATERAL (
                       SELECT lower(validity) + day * interval '24 hours' AS date
                       ) AS calendar
                 WHERE date_part('isodow', date AT TIME ZONE 'UTC')::int = ANY (days_of_week)
               ) AS timetable
       ) AS numbered
 CROSS JOIN LATERAL (
       SELECT scheduled + CASE WHEN flight_id % 20 = 1 THEN 60 + flight_id * 7 % 660
                               ELSE flight_id % 10 END * interval '1 minute' AS departed
       ) AS delayed
 ORDER BY flight_id;

-- References are six digits and capital letters.
INSERT INTO bookings
SELECT (SELECT string_agg(substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', digit, 1), '' ORDER BY place)
          FROM (VALUES (1, code / 60466176), (2, code / 1679616), (3, code / 46656),
                       (4, code / 1296), (5, code / 36), (6, code)) AS shifted (place, left_over),
               LATERAL (SELECT (left_over % 36)::int + 1 AS digit) AS digits),
       timestamptz '2024-12-17 00:00+00' + n * interval '25920 milliseconds',
       2000 + n * 7919 % 9000000 / 100.0
  FROM generate_series(1, 100000 * :scale::bigint) AS n,
       LATERAL (SELECT n * 48271 % 2176782336 AS code) AS spread
 ORDER BY n;

INSERT INTO seats_remain
SELECT flight_id, flight_id::bigint * 31 % (1 + places)
  FROM flights
  JOIN routes ON routes.route_no = flights.route_no AND validity @> scheduled_departure
  JOIN (SELECT airplane_code, count(*) AS places FROM seats GROUP BY airplane_code) AS cabins
       USING (airplane_code)
 ORDER BY flight_id;

ALTER TABLE airports_data ADD PRIMARY KEY (airport_code);
ALTER TABLE airplanes_data ADD PRIMARY KEY (airplane_code);
ALTER TABLE seats ADD PRIMARY KEY (airplane_code, seat_no);
ALTER TABLE routes ADD PRIMARY KEY (route_no, validity);
ALTER TABLE flights ADD PRIMARY KEY (flight_id), ADD UNIQUE (route_no, scheduled_departure);
ALTER TABLE bookings ADD PRIMARY KEY (book_ref);
ALTER TABLE seats_remain ADD PRIMARY KEY (flight_id);
CREATE INDEX ON routes (departure_airport, lower(validity));
