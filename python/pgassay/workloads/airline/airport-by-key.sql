-- One airport by its primary key. The server draws the key, for which it reads and sorts all airports.
WITH drawn AS MATERIALIZED (
    SELECT airport_code FROM airports_data ORDER BY random() LIMIT 1
)
SELECT airport.* FROM drawn JOIN airports_data AS airport USING (airport_code);
