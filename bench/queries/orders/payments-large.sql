SELECT count(*) FROM payment WHERE amount > 5000;
