-- What SHOW says of some settings. Parameter: their names.
SELECT name, current_setting(name) FROM unnest(%s::text[]) AS asked(name)
