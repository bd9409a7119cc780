-- A warehouse has received what its districts have.
SELECT w.id AS warehouse_id, w.received, sum(d.received) AS of_districts
  FROM warehouse w LEFT JOIN district d ON d.warehouse_id = w.id
 GROUP BY w.id, w.received
HAVING w.received IS DISTINCT FROM sum(d.received)
