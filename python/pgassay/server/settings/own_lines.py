"""Who wrote the line of a setting: found by the run, written by it, or by others since.

Enters: a session, a setting and where it is written, what was found there, the values of ours.
Leaves: which of the three, and for the third a sentence. Never: changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.change import SettingChange
from pgassay.server.protocol import Connection
from pgassay.server.settings.auto_conf import value_in
from pgassay.server.settings.changeable import Touched
from pgassay.server.settings.scope import Scope
from pgassay.server.settings.statements import is_line_of
from pgassay.server.settings.values import find, read_settings, same_value
from pgassay.spec.secrets.redaction import shown_of


class Author(Enum):
    """Who has written the line of a setting: nobody since the run began, this run, or others."""

    AS_FOUND = "as found"
    OURS = "ours"
    OTHERS = "others"


@dataclass(frozen=True)
class Line:
    """The line of a setting in postgresql.auto.conf as it is now."""

    author: Author
    written: str | None

    def described(self, name: str, undo: str) -> str:
        """Returns a sentence that somebody else wrote this line; `undo` is the SQL that restores
        the old value."""
        now = "not set" if self.written is None else shown_of(name, self.written)
        return (
            f"{name} is {now} now, which this run did not write: left as it is; value before"
            f" the run: {undo}"
        )


def line_of(
    session: Connection, scope: Scope, name: str, found: str | None, ours: Iterable[str]
) -> Line:
    """Returns who has written a line; where this user may not see it, it counts as the
    run's own."""
    visible, written = scope.written(session, name)
    if not visible:
        return Line(Author.OURS, None)
    values = list(ours)
    if any(is_line_of(name, value, written) for value in values):
        return Line(Author.OURS, written)
    # A change may have been recorded and never made.
    if written == found:
        return Line(Author.AS_FOUND, written)
    setting = find(read_settings(session), name)
    if setting is None or written is None:
        return Line(Author.OTHERS, written)
    # Who may not read the files sees the value in the setting's own unit.
    now = replace(setting, value=written)
    same = any(same_value(value, now) for value in values)
    return Line(Author.OURS if same else Author.OTHERS, written)


def line_now(session: Connection, scope: Scope, touched: Touched) -> Line:
    """Returns the line of a setting that this run has changed."""
    visible, written = scope.written(session, touched.name)
    if not visible or touched.line is None:
        # It may be as found, or any value of ours: the last change may not have been made.
        ours = [change.value for change in touched.changes]
        return line_of(session, scope, touched.name, touched.written, ours)
    same = touched.line == (visible, written)
    return Line(Author.OURS if same else Author.OTHERS, written)


def refuse_taken_over(session: Connection, scope: Scope, settings: Iterable[Touched]) -> None:
    """Raises TargetError where others have changed a line since the run's own came into force."""
    for touched in settings:
        line = line_now(session, scope, touched)
        touched.reported = line.author is Author.OTHERS
        if touched.reported:
            raise TargetRefused(
                "setting-changed-by-others", line=line.described(touched.name, touched.undo_text)
            )


def found_before(changes: Iterable[SettingChange], file: str) -> dict[str, str | None]:
    """The values before the run of settings whose lines in postgresql.auto.conf are ours; `file`
    is its text."""
    return {
        change.name: change.found
        for change in changes
        if is_line_of(change.name, change.value, value_in(file, change.name))
    }
