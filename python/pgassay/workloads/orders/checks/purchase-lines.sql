-- A purchase has as many lines as it says, all of them delivered if it is, else none.
SELECT coalesce(p.warehouse_id, l.warehouse_id) AS warehouse_id,
       coalesce(p.district_id, l.district_id) AS district_id,
       coalesce(p.id, l.purchase_id) AS purchase_id, p.carrier, p.line_count, l.lines, l.delivered
  FROM purchase p
  FULL JOIN (SELECT warehouse_id, district_id, purchase_id, count(*) AS lines,
                    count(delivered_at) AS delivered
               FROM purchase_line
              GROUP BY warehouse_id, district_id, purchase_id) AS l
    ON l.warehouse_id = p.warehouse_id AND l.district_id = p.district_id AND l.purchase_id = p.id
 WHERE l.lines IS DISTINCT FROM p.line_count
    OR l.delivered IS DISTINCT FROM CASE WHEN p.carrier IS NULL THEN 0 ELSE p.line_count END
