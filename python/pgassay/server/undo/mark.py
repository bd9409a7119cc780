"""What the mark of a run on a server says.

Enters: a run's open changes, or the comment of a database. Leaves: a `Mark`, and the text of the
comment with or without it. Never: loses the user's own comment, keeps what may be a secret, or
takes from a comment what is not a checked change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pgassay.server.change import (
    Change,
    OwnedServerChange,
    RestartChange,
    ServerChange,
    SettingChange,
    VariantChange,
    change_of,
    stored,
    visible,
)
from pgassay.spec.secrets.redaction import shown_of, sql_secret_line

_HEAD = "pgassay: "
_AT_THE_END = re.compile(r'(?:\A|\n)pgassay: [^\n]*\n(?P<json>[{]"form": [^\n]*)\Z')
_HIDDEN = "-- not kept here: it may hold a password"
_FORM = 1


@dataclass(frozen=True)
class Mark:
    """A mark on a server that says which run has changed it, and what."""

    run: str
    """The directory of the run,"""
    id: str
    """and the name drawn for its journal."""
    machine: str
    """User and host."""
    role: str
    started: str
    changes: tuple[Change, ...] = ()
    """Each value that the run writes anywhere, once; oldest first."""
    order: tuple[str, ...] = ()
    """The names in postgresql.auto.conf as found, where the role may read them."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """What the server was like (existing/snapshot.py)."""

    @property
    def who(self) -> str:
        """Returns the run that left the mark, in words."""
        place = f"{self.run}, " if self.run else ""
        return visible(f"a run of {self.machine} ({place}role {self.role}, {self.started})")

    @property
    def what(self) -> str:
        """The changes of the mark in words."""
        settings: dict[str, list[SettingChange]] = {}
        others: dict[str, None] = {}
        for change in self.changes:
            if isinstance(change, SettingChange):
                settings.setdefault(change.what, []).append(change)
            else:
                others[change.what] = None
        return "; ".join([*(_setting(what, made) for what, made in settings.items()), *others])


def with_changes(mark: Mark, changes: Iterable[Change]) -> Mark:
    """Returns a mark of the same run with these open changes, as they may be read by everybody."""
    kept = dict.fromkeys(bare(one) for one in changes if is_marked(one))
    return replace(mark, changes=tuple(kept))


def is_marked(change: Change) -> bool:
    """Whether a change outlasts a server that is up and can be seen from there."""
    return not isinstance(change, RestartChange | OwnedServerChange)


def with_mark(comment: str, mark: Mark) -> str:
    """Returns the user's own comment with the mark below it; without changes, the comment alone."""
    own = without_mark(comment)
    if not mark.changes:
        return own
    fields = {
        "form": _FORM,
        "run": mark.run,
        "id": mark.id,
        "machine": mark.machine,
        "role": mark.role,
        "started": mark.started,
        "order": list(mark.order),
        "digests": dict(mark.digests),
        "changes": [stored(one) for one in mark.changes],
    }
    head = f"{_HEAD}{mark.who} has changed this server, and removes this comment at its end"
    # ASCII alone: databases of other encodings show this comment too.
    head = head.encode("ascii", "backslashreplace").decode()
    return "\n".join([*([own] if own else []), head, json.dumps(fields)])


def without_mark(comment: str) -> str:
    """Returns the user's own comment."""
    found = _AT_THE_END.search(comment)
    return comment if found is None else comment[: found.start()]


def mark_in(comment: str) -> Mark | None:
    """Reads the mark in a comment; raises ValueError where it is not as a run writes it."""
    found = _AT_THE_END.search(comment)
    if found is None:
        return None
    try:
        fields = json.loads(found["json"])
        if not isinstance(fields, dict) or fields.pop("form", None) != _FORM:
            raise ValueError("it is of another form")
        changes = tuple(bare(change_of(one)) for one in _list(fields, "changes", dict))
        if not changes or not all(is_marked(one) for one in changes):
            raise ValueError("it names no change of a server")
        order = tuple(_list(fields, "order", str))
        digests = fields.pop("digests", None)
        if not isinstance(digests, dict) or {type(one) for one in digests.values()} - {str}:
            raise ValueError("digests are missing")
        texts = {name: fields.pop(name) for name in ("run", "id", "machine", "role", "started")}
        if fields or {type(text) for text in texts.values()} != {str}:
            raise ValueError("its fields are not those of a mark")
    except KeyError as error:
        raise ValueError(f"{error} is missing") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return Mark(**texts, changes=changes, order=order, digests=digests)


def _list(fields: dict[str, Any], name: str, kind: type) -> list[Any]:
    values = fields.pop(name)
    if not isinstance(values, list) or not all(isinstance(one, kind) for one in values):
        raise ValueError(f"{name} is no list of them")
    return values


def bare(change: Change) -> Change:
    """Returns a change without what only the run's own machine needs, and without secrets; it is
    equal where the same value is written to the same place."""
    plain = replace(change, id="-", reached="", dsn="", journal="", run="")
    if isinstance(plain, ServerChange):
        return replace(plain, data="", log="", host="")
    if isinstance(plain, VariantChange) and sql_secret_line(plain.undo):
        return replace(plain, undo=_HIDDEN)
    return plain


def _setting(what: str, made: list[SettingChange]) -> str:
    name, found = made[0].name, made[0].found
    values = " or ".join(dict.fromkeys(shown_of(name, one.value) for one in made))
    before = "not set" if found is None else shown_of(name, found)
    return visible(f"{what} = {values} (before: {before})")
