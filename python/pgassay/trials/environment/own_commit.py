"""The commit of pgassay as a run records it, and as a report names the one that made it.

Enters: nothing. Leaves: its name, or a note. Never: takes a connection, so that reports need no
psycopg.
"""

from __future__ import annotations

from pgassay.commit import commit_and_changes
from pgassay.notes import Note


def commit_words() -> Note | str:
    """Returns the commit of pgassay; a note where files differ from it."""
    name, has_changes = commit_and_changes()
    return Note("trials/environment/changed-commit", {"name": name}) if has_changes else name
