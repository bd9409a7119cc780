-- What SHOW says of some settings in a session that set none of them. Parameter: their names.
SELECT asked.name,
       CASE WHEN known.source = 'session' AND known.setting IS DISTINCT FROM known.reset_val
            THEN known.reset_val || coalesce(known.unit, '')
            ELSE current_setting(asked.name)
       END
  FROM unnest(%s::text[]) AS asked(name)
  LEFT JOIN pg_catalog.pg_settings AS known ON lower(known.name) = lower(asked.name)
