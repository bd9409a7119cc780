-- Which suppliers of a country were the only late one of a purchase with several suppliers?
\set country random(1, 25)
SELECT s.name, count(*) AS lines
  FROM supplier s
  JOIN purchase_line late ON late.supplier_id = s.id AND late.received_on > late.promised_on
  JOIN purchase p ON p.id = late.purchase_id AND p.status = 'D'
 WHERE s.country_id = :country
   AND EXISTS (SELECT FROM purchase_line l
                WHERE l.purchase_id = late.purchase_id AND l.supplier_id <> late.supplier_id)
   AND NOT EXISTS (SELECT FROM purchase_line l
                    WHERE l.purchase_id = late.purchase_id AND l.supplier_id <> late.supplier_id
                      AND l.received_on > l.promised_on)
 GROUP BY s.name
 ORDER BY lines DESC, s.name
 LIMIT 100;
