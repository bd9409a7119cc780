"""The server's host as trials see it: files read on the clock, state, processor times.

Decisions of this room:

- What is read of a host is a list (`host_sources.toml`, with the control groups and file systems
  found); the sampler knows forms of files, not files.
- The state of a host before and after a load is read by one shell script, here and over ssh: one
  round trip, and one parser of its output.
- Only observations find a host again after the server or the way to it went away: a trial whose
  server restarts does not count.
"""
