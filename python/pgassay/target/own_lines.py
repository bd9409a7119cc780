"""Whose the line of a setting is: as it was found, one that this run wrote, or somebody's since.

Enters: a session, a setting and where it is written, what was found there, the values of ours.
Leaves: which of the three, and for the third a sentence. Never: changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from pgassay.errors import TargetError
from pgassay.spec.redaction import shown_of
from pgassay.target.auto_conf import value_in
from pgassay.target.changeable import Touched
from pgassay.target.protocol import Change, Connection
from pgassay.target.setting_scope import Scope
from pgassay.target.setting_statements import is_line_of
from pgassay.target.settings import find, read_settings, same_value


class Whose(Enum):
    """Who wrote the line."""

    AS_FOUND = "as found"
    OURS = "ours"
    THEIRS = "theirs"


@dataclass(frozen=True)
class Line:
    """What is written of a setting now."""

    whose: Whose
    written: str | None

    def told(self, name: str, undo: str) -> str:
        """For people, of one that is theirs; `undo` is what would bring back what was found."""
        now = "not set" if self.written is None else shown_of(name, self.written)
        return (
            f"{name} is {now} now, which this run did not write: left as it is; before the run:"
            f" {undo}"
        )


def line_of(
    session: Connection, scope: Scope, name: str, found: str | None, ours: Iterable[str]
) -> Line:
    """Whose it is; where this user may not see what is written, it is taken for ours."""
    visible, written = scope.written(session, name)
    if not visible:
        return Line(Whose.OURS, None)
    values = list(ours)
    if any(is_line_of(name, value, written) for value in values):
        return Line(Whose.OURS, written)
    # A change may have been recorded and never made.
    if written == found:
        return Line(Whose.AS_FOUND, written)
    setting = find(read_settings(session), name)
    if setting is None or written is None:
        return Line(Whose.THEIRS, written)
    # Who may not read the files sees the value in the setting's own unit.
    now = replace(setting, value=written)
    same = any(same_value(value, now) for value in values)
    return Line(Whose.OURS if same else Whose.THEIRS, written)


def line_now(session: Connection, scope: Scope, touched: Touched) -> Line:
    """Of a setting that this run has changed."""
    visible, written = scope.written(session, touched.name)
    if not visible or touched.line is None:
        # It may be as found, or any value of ours: the last change may not have been made.
        ours = [change.value for change in touched.changes]
        return line_of(session, scope, touched.name, touched.written, ours)
    same = touched.line == (visible, written)
    return Line(Whose.OURS if same else Whose.THEIRS, written)


def refuse_taken_over(session: Connection, scope: Scope, settings: Iterable[Touched]) -> None:
    """TargetError where a line is no more as it was when ours came into force."""
    for touched in settings:
        line = line_now(session, scope, touched)
        touched.told = line.whose is Whose.THEIRS
        if touched.told:
            raise TargetError(
                "somebody else changes what this run varies or holds, so it ends here:"
                f" {line.told(touched.name, touched.undo_text)}"
            )


def found_before(changes: Iterable[Change], file: str) -> dict[str, str | None]:
    """What postgresql.auto.conf had of each setting whose line in it is ours; `file` is its text,
    of a server that is down."""
    return {
        change.setting: change.found
        for change in changes
        if is_line_of(change.setting, change.value, value_in(file, change.setting))
    }
