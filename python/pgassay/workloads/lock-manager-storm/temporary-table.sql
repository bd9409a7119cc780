-- A temporary table for each transaction, with an index and a TOAST table: its locks, and rows of the
-- catalogs that come and go.
BEGIN;
CREATE TEMPORARY TABLE work (id bigint PRIMARY KEY, value text) ON COMMIT DROP;
INSERT INTO work SELECT id, month::text FROM wide LIMIT 10;
SELECT count(*) FROM work;
COMMIT;
