SELECT line_count, count(*) FROM purchase GROUP BY line_count ORDER BY line_count;
