SELECT count(*), sum(balance) FROM customer WHERE balance > 0;
