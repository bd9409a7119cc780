"""What a server is like before a run and after it.

Enters: where the server is reached. Leaves: a snapshot; of two, each difference, and what this user
may not read. Never: changes anything.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pgassay.errors import TargetError
from pgassay.refusals.refusal import RestoreRefused
from pgassay.server.comparison import Comparison, Difference, Kind, Thing
from pgassay.server.connection.session import Work, as_target_error, connect, jit_of_the_server
from pgassay.server.protocol import Connection, ConnectionParameters, Journal
from pgassay.server.settings.auto_conf import NAME as AUTO_CONF
from pgassay.server.settings.auto_conf import quoted
from pgassay.server.settings.scope import SERVER, auto_conf_text
from pgassay.server.statements import statement
from pgassay.server.undo.marking import ServerMark, begun, place_for
from pgassay.server.undo.undo_sql import SCHEMA
from pgassay.spec.secrets.redaction import redacted, shown_of

_NAME = re.compile(r"[\w$.]+")


@dataclass(frozen=True)
class Snapshot:
    """What a server is like at one moment: settings, roles, databases and what else a run could
    change."""

    parameters: ConnectionParameters
    things: Mapping[Thing, str]
    auto_conf: tuple[str, ...] | None
    """The lines of postgresql.auto.conf; None where this user may not read them."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Returns what this user may not read of the server."""
        return () if self.auto_conf is not None else (AUTO_CONF,)


def snapshot(parameters: ConnectionParameters) -> Snapshot:
    """Reads what the server is like now, in a session of its own: one that has set something would
    see its own values."""
    with as_target_error("looking at the server"), connect(parameters) as session:
        with jit_of_the_server(session):
            rows = session.execute(statement("existing/snapshot"), prepare=False).fetchall()
        things = {Thing(Kind(kind), name): like for kind, name, like in rows}
        return Snapshot(parameters, things, _auto_conf(session))


def compared(before: Snapshot) -> Comparison:
    """Returns how the server differs now from before."""
    try:
        after = snapshot(before.parameters)
    except TargetError as error:
        return Comparison(unknown=str(error))
    differences = [
        Difference(thing, before.things.get(thing), after.things.get(thing))
        for thing in sorted({*before.things, *after.things}, key=lambda one: (one.kind, one.name))
        if before.things.get(thing) != after.things.get(thing)
    ]
    if before.auto_conf is not None and after.auto_conf is not None:
        differences += _of_lines(before.auto_conf, after.auto_conf)
    left_out = tuple(dict.fromkeys([*before.left_out, *after.left_out]))
    return Comparison(tuple(differences), left_out)


def digests_of(found: Snapshot) -> dict[str, str]:
    """A short text for the things of each kind, which differs where one of them does."""
    kinds: dict[str, list[str]] = {kind.value: [] for kind in Kind}
    for thing, like in found.things.items():
        shown = shown_of(thing.name.partition(" ")[0], like)
        kinds[thing.kind].append(f"{thing.name}\0{shown}")
    if found.auto_conf is None:
        del kinds[Kind.LINE]
    else:
        kinds[Kind.LINE] = [redacted(line) for line in found.auto_conf]
        kinds[Kind.ORDER] = list(kinds[Kind.LINE])
    return {
        kind: _digest(texts if kind == Kind.ORDER else sorted(texts))
        for kind, texts in kinds.items()
    }


def compared_with_digests(
    parameters: ConnectionParameters, before: Mapping[str, str]
) -> Comparison:
    """Compares the server with what a mark says of it: of which kinds something differs."""
    try:
        after = snapshot(parameters)
    except TargetError as error:
        return Comparison(unknown=str(error))
    now = digests_of(after)
    differ = [kind for kind in Kind if kind in now and now[kind] != before.get(kind)]
    if Kind.LINE in differ and Kind.ORDER in differ:
        differ.remove(Kind.ORDER)
    differences = tuple(Difference(Thing(kind, ""), "", "") for kind in differ)
    return Comparison(differences, after.left_out)


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()[:16]


class AsFound:
    """What a run found on a server, and at its end how the server differs from that."""

    def __init__(self) -> None:
        self._before: Snapshot | None = None
        self.comparison: Comparison | None = None

    def look(self, parameters: ConnectionParameters) -> None:
        """Reads the server before the first change."""
        self._before = snapshot(parameters)

    @property
    def digests(self) -> Mapping[str, str]:
        """Digests of what was found, for the mark on the server."""
        return {} if self._before is None else digests_of(self._before)

    def compare(
        self, set_here: Collection[str], databases: Collection[str], *, is_restored: bool
    ) -> None:
        """Compares the server with what was found, after the last change is undone; raises
        RestoreFailed where what the run has changed is not as before, although every step of
        undoing it was done. Others may have changed the rest."""
        before, self._before = self._before, None
        if before is None:
            return
        self.comparison = compared(before)
        own = {
            *(Thing(Kind.LINE, name) for name in set_here),
            *(Thing(Kind.DATABASE, name) for name in databases),
            Thing(Kind.SCHEMA, SCHEMA),
        }
        ours = tuple(str(one) for one in self.comparison.differences if one.what in own)
        if ours and is_restored:
            raise RestoreRefused("not-as-found", where="the server", problems=ours)


def begin_mark(
    mark: ServerMark, journal: Journal, found: AsFound, parameters: ConnectionParameters
) -> None:
    """Marks the changes of a run on the server from now on."""

    def session() -> Connection:
        return connect(parameters, work=Work.OWN_CHANGES)

    with as_target_error("looking at the server"), session() as opened:
        order = [name for name, _ in SERVER.lines(opened) or ()]
        header = begun(journal, opened.info.user, order, found.digests)
        mark.begin(session, place_for(opened), header)


def _auto_conf(session: Connection) -> tuple[str, ...] | None:
    """The file's text, or its entries as ALTER SYSTEM writes them."""
    text = auto_conf_text(session)
    if text is not None:
        return tuple(text.splitlines())
    entries = SERVER.lines(session)
    return (
        None if entries is None else tuple(f"{name} = {quoted(value)}" for name, value in entries)
    )


def _of_lines(before: tuple[str, ...], after: tuple[str, ...]) -> list[Difference]:
    gone, come = Counter(before) - Counter(after), Counter(after) - Counter(before)
    if not gone and not come:
        return [] if before == after else [Difference(Thing(Kind.ORDER, ""), "", "")]
    names = dict.fromkeys(_name_of(line) for line in (*gone, *come))
    return [
        Difference(Thing(Kind.LINE, name), _line_of(name, gone), _line_of(name, come))
        for name in names
    ]


def _name_of(line: str) -> str:
    match = _NAME.match(line)
    return match[0].lower() if match else "a comment"


def _line_of(name: str, lines: Counter[str]) -> str | None:
    return next((line for line in lines if _name_of(line) == name), None)
