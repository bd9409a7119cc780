-- Seats of one to ten models of airplanes, counted by class.
\set models random(1, 10)
WITH drawn AS MATERIALIZED (
    SELECT airplane_code FROM airplanes_data ORDER BY random() LIMIT :models
)
SELECT fare_conditions, count(*) AS places, count(DISTINCT airplane_code) AS models
  FROM seats JOIN drawn USING (airplane_code)
 GROUP BY fare_conditions
 ORDER BY places DESC;
