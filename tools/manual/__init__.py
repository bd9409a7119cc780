"""Manual pages, made of the commands themselves."""
