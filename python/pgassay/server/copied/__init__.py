"""An owned server on a base backup of an existing one, which is only read.

- `reset.level = "snapshot"` with `target.dsn` leads here: a user's data directory is never
  swapped, so a killed run cannot leave the server on the wrong data.
- pg_basebackup runs as the user who started pgassay, into a directory that only this user can
  enter; the data change their owner once they are complete.
- Settings come from pg_settings and not from files: Debian keeps these outside the data
  directory, and only the values in force are the server's own.
- The copy must not reach the original's neighbours: left_out.toml keeps archiving,
  replication, subscriptions and libraries that act by themselves out of it.
- Versions and builds of the server (`[factors.target]`) are copies, too: of its own version as they
  are, of a newer one by pg_upgrade, or all by dump and restore (upgrade.py). What a version lacks
  is found in its files before anything is copied (versions.py).
- Several servers of one run share one base backup, so that all have the same data.
"""
