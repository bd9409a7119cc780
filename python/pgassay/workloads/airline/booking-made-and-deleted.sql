-- A booking is made, and deleted 20 ms later by its date, which has no index: all bookings are read.
-- Both in one transaction, so that nothing is left of it at any moment, also if the run is killed.
-- References with a small letter are nobody else's; now() is the same throughout a transaction.
BEGIN;
INSERT INTO bookings (book_ref, book_date, total_amount)
VALUES ('x' || lpad(:client_id::text, 5, '0'), now(), 0);
SELECT pg_sleep(0.02);
DELETE FROM bookings WHERE left(book_ref, 1) = 'x' AND book_date = now();
COMMIT;
