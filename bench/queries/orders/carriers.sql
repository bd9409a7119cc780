SELECT carrier, count(*) FROM purchase GROUP BY carrier;
