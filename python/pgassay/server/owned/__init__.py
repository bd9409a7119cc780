"""Servers that pgassay makes, starts, stops and removes.

Decisions of this room:

- An owned server is reset from a frozen copy of its data directory before every trial, also where
  the arm does not need it, so that every trial starts from the same pages. Cheaper resets are the
  user's choice (`spec/server/reset.toml`), and what they leave different is a risk that `plan`
  shows.
- Each pair of server and data has a data directory of its own; each variant of the schema is one
  more frozen copy, made once and put back in seconds. An index made anew before each trial would
  leave its table in shared buffers in one arm and not in the others. Servers that run side by side
  share frozen copies if they can run on the same files, and may exchange their directories: build
  and settings belong to the server; data, socket and log to the directory.
- As root the programs run under an unprivileged account. Where that account cannot read them, for
  instance in a checkout below a private home, a copy is made for it.
"""
