-- The tables are empty: the time is that of finding the oldest transaction of the database.
SELECT 1;
