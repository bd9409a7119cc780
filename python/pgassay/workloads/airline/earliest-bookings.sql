-- The first bookings by date, which has no index: all are read, and up to 500 of them sorted.
\set most random(1, 500)
SELECT book_ref, book_date, total_amount, date_part('day', book_date) AS day_of_month
  FROM bookings
 WHERE total_amount > 0
 ORDER BY book_date
 LIMIT :most;
