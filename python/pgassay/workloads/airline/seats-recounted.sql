-- Counts the seats of up to five flights that have landed, all flights being read to draw a time, and
-- writes how many remain: never more than the airplane has, which leaves right numbers as they are. The
-- flights are mostly the same ones, so that calls at the same time wait for each other.
WITH landed AS MATERIALIZED (
    SELECT flight_id
      FROM flights
     WHERE status = 'Arrived'
       AND actual_arrival < (SELECT actual_arrival FROM flights
                              WHERE actual_arrival IS NOT NULL ORDER BY random() LIMIT 1)
     ORDER BY flight_id
     LIMIT 5
)
UPDATE seats_remain AS remaining
   SET available = least(remaining.available, (
       SELECT count(*)
         FROM flights
         JOIN routes ON routes.route_no = flights.route_no AND validity @> scheduled_departure
         JOIN seats USING (airplane_code)
        WHERE flights.flight_id = remaining.flight_id))
  FROM landed
 WHERE landed.flight_id = remaining.flight_id;
