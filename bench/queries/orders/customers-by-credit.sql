SELECT credit, count(*), sum(balance) FROM customer GROUP BY credit;
