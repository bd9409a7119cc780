-- The abbreviations of log_timezone in the course of a year, and what they are east of Greenwich.
-- Ours to ask, since only the server has its own time zone data.
SELECT DISTINCT pg_catalog.to_char(moment, 'TZ'), extract(timezone FROM moment)::int
  FROM pg_catalog.generate_series(now() - interval '1 year', now() + interval '2 days',
                                  interval '2 weeks') AS moment
UNION
SELECT pg_catalog.to_char(now(), 'TZ'), extract(timezone FROM now())::int
