-- The mean of all measurements of one sensor: a bitmap of the index, then as many pages of the table.
\set sensor random(1, 100 * :scale)
SELECT count(*), avg(value) FROM measurement WHERE sensor = :sensor;
