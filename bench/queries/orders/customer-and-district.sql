SELECT c.last_name, d.name, c.discount + d.tax FROM customer c
  JOIN district d ON d.warehouse_id = c.warehouse_id AND d.id = c.district_id
 WHERE c.warehouse_id = 1 AND c.district_id = 4 AND c.id < 40;
