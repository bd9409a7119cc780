-- Which cluster and database this is, whatever name or address led here.
SELECT system_identifier::text, current_database()
  FROM pg_catalog.pg_control_system()
