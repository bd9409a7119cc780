-- The measurements of some sensors beside those that they name: by an index for each, or by one scan of the whole
-- table, whichever the planner takes for cheaper.
\set sensor random(1, 100 * :scale - 7)
SELECT count(*), avg(one.value - other.value)
  FROM measurement AS one JOIN measurement AS other ON other.id = one.reference
 WHERE one.sensor BETWEEN :sensor AND :sensor + 7;
