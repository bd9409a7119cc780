SELECT sum(n) FROM counter;
