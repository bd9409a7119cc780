-- A temporary table for each transaction: its locks, and rows of the catalogue that come and go.
BEGIN;
CREATE TEMPORARY TABLE work (id bigint PRIMARY KEY, month int) ON COMMIT DROP;
INSERT INTO work SELECT id, month FROM wide LIMIT 10;
SELECT count(*) FROM work;
COMMIT;
