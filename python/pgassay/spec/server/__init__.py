"""Tables about the server under test: access, signs of production, knobs, resets, CPUs.

Signs of production are data (`signs.toml` and the queries of `server/sql/signs/`): one query, one
threshold and one reason each. `run`, `plan` and `doctor` ask the same questions; a new sign is one
entry and one file.
"""
