SELECT district_id, sum(amount), count(*) FROM payment GROUP BY district_id;
