"""An existing server whose trials run on copies of its data directory.

Enters: what an existing target takes, and the leave to copy. Leaves: every trial on the same data,
freshly started; after `close` the server on the very directory it had. Never: where somebody else
would see the copies for the server: a standby, a slot's reader, an archive.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace

import psycopg

from pgassay.errors import ConnectionRefused, RestoreFailed, TargetError
from pgassay.spec.reset import EXISTING_RULE, ResetRule
from pgassay.target.access import SQL_ONLY, Access
from pgassay.target.data_copy import DataCopies
from pgassay.target.existing import ExistingTarget
from pgassay.target.protocol import (
    NOTHING,
    Connection,
    Ground,
    Journal,
    ResetReport,
    SchemaVariant,
    ServerFacts,
)
from pgassay.target.reset_levels import Phases
from pgassay.target.schema import settle
from pgassay.target.service import Service
from pgassay.target.session import connect, identity, told_as_target_error
from pgassay.target.snapshots import AS_BUILT
from pgassay.target.statements import statement
from pgassay.target.waiting import OthersWait, refuse_start


class CopiedTarget(ExistingTarget):
    """As its parent, with `reset` from a frozen copy."""

    _copies: DataCopies | None = None
    _variant_copy = AS_BUILT
    _varied = False

    def __init__(
        self,
        dsn: str,
        journal: Journal,
        *,
        allow_changes: bool = False,
        accept: Collection[str] = (),
        access: Access = SQL_ONLY,
        rule: ResetRule = EXISTING_RULE,
        schema_variants: int = 0,
    ) -> None:
        super().__init__(
            dsn, journal, allow_changes=allow_changes, accept=accept, access=access, rule=rule
        )
        self._schema_variants = schema_variants

    def open(self) -> ServerFacts:
        facts = super().open()
        with told_as_target_error("looking who would see copies"):
            refuse_followed(self._alive())
        return facts

    def prepare(
        self,
        build: Callable[[Connection], None],
        held: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
    ) -> None:
        self.check_settings(held)
        self.check_host(host)
        with told_as_target_error("looking what a restart would bring"):
            self._opened()[1].refuse_restart(self._alive())
        copies = self._data_copies()
        copies.begin(identity(self._alive()), self.parameters().address)
        super().prepare(build, held, host)
        copies.freeze()
        self._alive()

    def choose(self, ground: Ground) -> ServerFacts:
        if self._data.is_built and ground.schema not in self._data_copies():
            raise TargetError(f"{ground.schema}: this variant of the data was not made")
        self._variant_copy = ground.schema
        # There is nothing to make or to take back in a copy that has it.
        return super().choose(replace(ground, schema=""))

    def vary(self, variant: SchemaVariant) -> None:
        """One more frozen copy, made once: an index made before each trial would leave its table in
        shared buffers, in this arm and in no other."""
        copies = self._data_copies()
        if self._varied:
            copies.thaw()
            self._alive()
        self._varied = True
        with connect(self.parameters(), statement_limit_s=0) as session:
            for what, statements in variant.parts.items():
                with told_as_target_error(what):
                    session.execute(statements.encode(), prepare=False)
            settle(session)
        copies.freeze(variant.name)
        self._alive()

    def reset(
        self,
        settings: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
        *,
        restart: bool | None = None,
    ) -> ResetReport:
        # Every trial has a start of its own; settings need no other.
        return replace(super().reset(settings, host, restart=False), restarted=True)

    def _put_back_data(self, phases: Phases) -> str:
        with phases("copy"):
            self._data_copies().thaw(self._variant_copy)
        self._alive()
        return "data directory"

    def _find_service(self, session: Connection) -> Service | None:
        service = super()._find_service(session)
        if service is None:
            raise TargetError("reset.level = 'snapshot' takes target.allow_restart = true")
        self._copies = DataCopies(
            self._machine, service, self._journal, self._schema_variants, self._refuse_restart
        )
        self._copies.refuse()
        return service

    def _restore_server(self) -> None:
        # First: a copy may be down for good, and what was changed in it goes with it. By SQL is put
        # back what came before, on the server's own directory.
        left = ""
        if self._copies is not None:
            self._refuse_start(self._copies)
            gone, left = self._copies.give_back()
            self._forget(gone)
        super()._restore_server()
        if left:
            raise RestoreFailed(f"the server is on its own data directory again, and {left}")

    @property
    def _left(self) -> list[str]:
        copies = [] if self._copies is None else self._copies.left
        return [*super()._left, *copies]

    def _refuse_restart(self) -> None:
        with told_as_target_error("looking what a restart would bring"), self.connect() as session:
            self._opened()[1].refuse_restart(session)

    def _refuse_start(self, copies: DataCopies) -> None:
        """RestoreFailed where a server that is up on a copy would stay down on its own directory,
        for what somebody has written into files that lie elsewhere."""
        if not copies.left or self._located is None:
            return
        try:
            with suppress(ConnectionRefused, psycopg.Error), self.connect() as session:
                refuse_start(session, self._located.data)
        except OthersWait as error:
            raise RestoreFailed(
                f"the server is still on a copy of its data directory ({error}); by hand, else:"
                f" {copies.left[0]}"
            ) from error

    def _data_copies(self) -> DataCopies:
        if self._copies is None:
            raise TargetError("the target is not open; call open first")
        return self._copies


def refuse_followed(session: Connection) -> None:
    """TargetError where changes of a copy would reach, or come from, another server."""
    row = session.execute(statement("who_follows")).fetchone()
    if row is not None and row[0]:
        raise TargetError(
            f"reset.level = 'snapshot' is not for a server with {row[0]}: what its copies send or"
            " receive would disagree with the server's own data afterwards"
        )
