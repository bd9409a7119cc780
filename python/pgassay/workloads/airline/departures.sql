-- The routes that leave one to ten airports on a day within the validity of some route.
\set airports random(1, 10)
WITH origins AS MATERIALIZED (
    SELECT airport_code, city ->> 'en' AS city
      FROM airports_data ORDER BY random() LIMIT :airports
), calendar AS MATERIALIZED (
    SELECT date_trunc('day', lower(validity) + random() * (upper(validity) - lower(validity))) AS day
      FROM routes
     WHERE upper(validity) - lower(validity) > interval '7 days'
     ORDER BY random() LIMIT 1
)
SELECT route_no, departure_airport, origins.city AS departure_city, arrival_airport,
       destination.city ->> 'en' AS arrival_city, duration, days_of_week
  FROM calendar
  JOIN routes ON validity @> calendar.day
  JOIN origins ON origins.airport_code = departure_airport
  JOIN airports_data AS destination ON destination.airport_code = arrival_airport
 WHERE cardinality(days_of_week) > 0
 ORDER BY departure_airport, route_no
 LIMIT 300;
