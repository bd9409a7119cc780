SELECT pg_catalog.set_config({name}, {value}, false)
