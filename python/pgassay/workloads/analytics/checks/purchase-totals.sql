-- A purchase costs what its lines do, and says how many of them were shipped.
SELECT p.id AS purchase_id, p.total, l.total AS of_lines, p.status, l.status AS status_of_lines
  FROM purchase p
  FULL JOIN (SELECT purchase_id, round(sum(price * (1 - discount) * (1 + tax)), 2) AS total,
                    CASE WHEN bool_and(status = 'D') THEN 'D' WHEN bool_or(status = 'D') THEN 'P'
                         ELSE 'O' END AS status
               FROM purchase_line
              GROUP BY purchase_id) AS l ON l.purchase_id = p.id
 WHERE p.total IS DISTINCT FROM l.total OR p.status IS DISTINCT FROM l.status
