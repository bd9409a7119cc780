"""Secrets: refused in files, removed from text.

Secrets are stopped where they would enter and removed where text leaves: a spec that holds what
looks like a password is refused; the JSON of a run, logs of a command and messages pass through
`redaction.py`. Only workload.json is stored word for word, because a run is repeated from it. So
SQL that gives a server a password is refused, and what only looks like one is a risk that `plan`
shows.
"""
