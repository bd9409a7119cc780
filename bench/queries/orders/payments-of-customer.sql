SELECT paid_at, amount FROM payment
 WHERE customer_warehouse_id = 1 AND customer_district_id = 3 AND customer_id = 77;
