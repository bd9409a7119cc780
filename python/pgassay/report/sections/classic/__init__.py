"""The classic view: pg_expecto's figures by arm, each correlation beside its honest counterpart."""
