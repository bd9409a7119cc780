"""A server of our own: the wheel's PostgreSQL or that of any bin directory.

Enters: an installation, settings, a function that builds the data. Leaves: for every trial what
the reset rule asks for; as a rule the same data directory, put back from a frozen copy, under a
freshly started server.
Never: touches another server; everything it makes is in one directory, gone after `close`.
"""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import LiteralString

from psycopg import sql

from pgassay.errors import RestoreFailed, SettingRejected, TargetError
from pgassay.spec.reset import OWNED_RULE, STARTS, Caches, ResetRule
from pgassay.spec.settings import CANNOT_VARY
from pgassay.target.account import server_account
from pgassay.target.caches import cool, doubt, install_prewarm
from pgassay.target.cluster import DATABASE, Cluster
from pgassay.target.host import Host
from pgassay.target.host_knobs import HostKnobs, sweep_host
from pgassay.target.installation import Installation
from pgassay.target.local_host import HERE
from pgassay.target.placement import Place
from pgassay.target.postmaster import StartError, blamed, end_servers
from pgassay.target.protocol import (
    NOTHING,
    Change,
    Connection,
    ConnectionParameters,
    Ground,
    Journal,
    ResetLevel,
    ResetReport,
    SchemaVariant,
    ServerFacts,
    Setting,
)
from pgassay.target.readable_copy import runnable_by
from pgassay.target.reset_levels import Phases, RestartFactors, settle_owned, vacuum
from pgassay.target.session import connect, told_as_target_error, version_text
from pgassay.target.setting_statements import reload
from pgassay.target.settings import check_value, confirm, find, read_settings, show
from pgassay.target.snapshots import AS_BUILT, Snapshots
from pgassay.target.statements import statement
from pgassay.target.undoing import undo_each
from pgassay.target.workspace import base_directory, make_workspace, new_name, sweep

CLOSE_GENTLE_S = 10.0
VACUUMS = frozenset({ResetLevel.RESTART, ResetLevel.VACUUM})


class LocalTarget:
    """An owned server, started and thrown away by us."""

    kind: LiteralString

    def __init__(
        self,
        installation: Installation,
        journal: Journal,
        *,
        kind: LiteralString = "local",
        place: Place | None = None,
        host: HostKnobs | None = None,
        rule: ResetRule = OWNED_RULE,
    ) -> None:
        self.kind = kind
        self._rule = rule
        self._restarts = RestartFactors()
        self._place = place
        self._installation = installation
        self._journal = journal
        self._cluster: Cluster | None = None
        self._made: Change | None = None
        self._host = host or HostKnobs(journal)
        self._held: dict[str, str] = {}
        self._held_host: dict[str, str] = {}
        self._built = False
        self._ready = False
        self._facts: ServerFacts | None = None
        self._snapshots = Snapshots()
        """Where there is one, what stands in the data directory can be lost."""
        self._chosen = AS_BUILT
        self._in_force: dict[str, str] = {}

    def open(self) -> ServerFacts:
        account = server_account()
        installation = runnable_by(self._installation, account)
        base = base_directory(account)
        sweep(base)
        sweep_host()
        name = new_name()
        directory = base / name
        change = Change(
            id=uuid.uuid4().hex,
            what=f"directory of an owned server: {directory}",
            do=shlex.join(["mkdir", str(directory)]),
            undo=shlex.join(["rm", "-rf", str(directory), f"{directory}.owner"]),
        )
        self._made = change
        self._journal.record(change)
        self._cluster = Cluster(installation, make_workspace(account, base, name), self._place)
        self._cluster.create()
        self._cluster.start()
        self._create_database()
        self._facts = self.facts()
        return self._facts

    def choose(self, ground: Ground) -> ServerFacts:
        self._opened()
        if self._snapshots and ground.schema not in self._snapshots:
            raise TargetError(f"{ground.schema}: this variant of the data was not made")
        self._chosen = ground.schema
        if self._facts is None:
            self._facts = self.facts()
        return self._facts

    def park(self) -> None:
        """Stop the server, so that another one has the machine; a reset brings it back."""
        cluster = self._opened()
        cluster.stop(gently=not self._snapshots)
        if self._snapshots:
            cluster.discard()

    def vary(self, variant: SchemaVariant) -> None:
        cluster = self._opened()
        if not self._snapshots:
            raise TargetError("vary before prepare: there is no data to vary")
        self._snapshots.refuse_without_room(cluster)
        self._chosen = AS_BUILT
        cluster.stop(gently=False)
        self._snapshots.thaw(cluster)
        self._start_with(self._held, {})
        with connect(self.parameters(), statement_limit_s=0) as session:
            for what, statements in variant.parts.items():
                with told_as_target_error(what):
                    session.execute(statements.encode(), prepare=False)
        self._settle()
        cluster.stop(gently=True)
        self._snapshots.freeze(cluster, variant.name)

    def prepare(
        self,
        build: Callable[[Connection], None],
        held: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
    ) -> None:
        cluster = self._opened()
        self.check_settings(held)
        if self._built:
            # Another workload must not find the roles, settings or WAL of the one before.
            self._ready = False
            self._snapshots.forget()
            cluster.stop(gently=False)
            cluster.create()
            cluster.start()
            self._create_database()
        self._built = True
        self._held, self._held_host = dict(held), dict(host)
        self.check_host(host)
        self._host.apply(host, cluster.workspace.directory)
        self._start_with(held, {})
        with connect(self.parameters(), statement_limit_s=0) as session:
            # Whatever `build` raises belongs to the workload and is its caller's to explain.
            build(session)
        self._settle()
        if self._rule.level is ResetLevel.SNAPSHOT:
            cluster.stop(gently=True)
            self._snapshots.freeze(cluster)
            cluster.start()
        self._ready = True

    def check_settings(self, settings: Mapping[str, str]) -> None:
        cluster = self._opened()
        self._restarts.seen(self._seen_settings(), settings)
        for name, value in settings.items():
            if name.lower() in CANNOT_VARY:
                raise SettingRejected(
                    name, f"{name}: it cannot be varied here: {CANNOT_VARY[name.lower()]}"
                )
            if check_value(self._seen_settings(), name, value) is None:
                continue
            reason = cluster.refusal(name, value)
            if reason is not None:
                raise SettingRejected(name, f"{name} = {value}: {reason}")

    def check_host(self, knobs: Mapping[str, str]) -> None:
        self._host.check(knobs, self._opened().workspace.directory)

    def reset(
        self,
        settings: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
        *,
        restart: bool | None = None,
    ) -> ResetReport:
        cluster = self._opened()
        if not self._ready:
            raise TargetError("reset before prepare: there is no data to put back")
        phases, level = Phases(), self._rule.level
        wanted = {**self._held, **settings}
        restarts = level in STARTS or (self._restarts.any if restart is None else restart)
        known = self._seen_settings()
        restarts = restarts or self._restarts.changed(known, self._in_force, wanted)
        if level in VACUUMS:
            with phases("vacuum"):
                vacuum(lambda: connect(self.parameters(), statement_limit_s=0))
        if restarts:
            with phases("stop"):
                cluster.stop(gently=not self._snapshots)
        if self._snapshots:
            with phases("copy"):
                self._snapshots.thaw(cluster, self._chosen)
        knobs = self._host.apply({**self._held_host, **host}, cluster.workspace.directory)
        caches = None
        if self._rule.caches is Caches.COLD:
            with phases("caches"):
                caches = cool([cluster.workspace.data])
        with phases("start" if restarts else "settings"):
            start = self._start_with if restarts else self._reload_with
            notes = start(wanted, self._held)
        with (
            told_as_target_error("settling the server before a trial"),
            connect(self.parameters(), statement_limit_s=0) as session,
        ):
            caches = settle_owned(session, self._rule, cluster.workspace.data, phases) or caches
            shown = show(session, wanted)
        notes += [text for text in [doubt(caches)] if text is not None]
        return ResetReport(
            level=level,
            duration_s=phases.total_s,
            restarted=restarts,
            settings=shown,
            notes=(*notes, *self._host.notes),
            host=knobs,
            placement=cluster.placed(),
            phases=phases.seconds,
            caches=caches,
        )

    def announce(self, settings: Mapping[str, Sequence[str]]) -> None:
        """Nothing to journal: they are in the directory that is thrown away."""
        self._opened()

    def host(self) -> Host:
        return HERE

    def host_as_found(self) -> Mapping[str, str]:
        return self._host.found

    def parameters(self) -> ConnectionParameters:
        return self._opened().parameters()

    def connect(self) -> Connection:
        return connect(self.parameters())

    def facts(self) -> ServerFacts:
        cluster = self._opened()
        with told_as_target_error("looking at the server"), self.connect() as session:
            return ServerFacts(
                version_num=session.info.server_version,
                version=self._installation.version,
                data_directory=str(cluster.workspace.data),
                is_local=True,
                log_file=cluster.workspace.log_file,
                settings=read_settings(session),
                build=version_text(session),
            )

    def close(self) -> None:
        undo_each(self._remove_server, self._host.restore)

    def _remove_server(self) -> None:
        cluster, change = self._cluster, self._made
        try:
            if cluster is not None:
                end_servers(cluster.workspace.data, gentle_s=CLOSE_GENTLE_S)
                cluster.workspace.remove()
        except TargetError as error:
            raise RestoreFailed(f"the owned server is not gone: {error}") from error
        self._cluster = None
        self._ready = False
        self._snapshots.forget()
        if change is not None:
            self._journal.undone(change.id)
            self._made = None

    def _opened(self) -> Cluster:
        if self._cluster is None:
            raise TargetError("the target is not open; call open first")
        return self._cluster

    def _seen_settings(self) -> Mapping[str, Setting]:
        return self._facts.settings if self._facts else {}

    def _settle(self) -> None:
        """What every trial then starts from: hint bits set, statistics gathered, pages on disk."""
        with (
            told_as_target_error("settling the data"),
            connect(self.parameters(), statement_limit_s=0) as session,
        ):
            refuse_tablespaces(session)
            if self._rule.caches is Caches.WARM:
                install_prewarm(session)
            session.execute("VACUUM (FREEZE, ANALYZE)")
            session.execute("CHECKPOINT")

    def _start_with(self, wanted: Mapping[str, str], safe: Mapping[str, str]) -> list[str]:
        """Start the server with `wanted` in force, or with `safe` and a SettingRejected."""
        cluster = self._opened()
        cluster.stop(gently=not self._snapshots)
        cluster.configure(wanted)
        try:
            cluster.start()
            notes = self._confirmed(wanted)
            self._in_force = dict(wanted)
            return notes
        except StartError as error:
            self._put_back(safe)
            changed = {n: value for n, value in wanted.items() if value != safe.get(n)}
            culprit = blamed(error.words, changed)
            if not culprit:
                raise
            values = ", ".join(f"{name} = {wanted[name]}" for name in culprit)
            raise SettingRejected(", ".join(culprit), f"{values}: {error}") from None
        except SettingRejected:
            self._put_back(safe)
            raise

    def _reload_with(self, wanted: Mapping[str, str], safe: Mapping[str, str]) -> list[str]:
        """Bring `wanted` into force in the server as it runs."""
        self._opened().configure(wanted)
        try:
            with told_as_target_error("changing settings"), self.connect() as session:
                reload(session)
            notes = self._confirmed(wanted)
        except SettingRejected:
            self._put_back(safe)
            raise
        self._in_force = dict(wanted)
        return notes

    def _confirmed(self, wanted: Mapping[str, str]) -> list[str]:
        with told_as_target_error("reading settings back"), self.connect() as session:
            found = read_settings(session)
        notes = [confirm(value, find(found, name), name) for name, value in wanted.items()]
        return [note for note in notes if note is not None]

    def _put_back(self, safe: Mapping[str, str]) -> None:
        cluster = self._opened()
        cluster.stop(gently=not self._snapshots)
        if self._snapshots:
            self._snapshots.thaw(cluster, self._chosen)
        cluster.configure(safe)
        cluster.start()
        self._in_force = dict(safe)

    def _create_database(self) -> None:
        name = sql.Identifier(DATABASE)
        with (
            told_as_target_error("making the database"),
            connect(self._opened().parameters("postgres"), statement_limit_s=0) as session,
        ):
            session.execute(sql.SQL("CREATE DATABASE {}").format(name))


def refuse_tablespaces(session: Connection) -> None:
    """Refuse data that a copy of the data directory would share instead of freeze."""
    row = session.execute(statement("tablespaces_outside")).fetchone()
    if row is not None:
        raise TargetError(
            f"the workload made the tablespace {row[0]} outside the data directory, which a "
            "snapshot cannot freeze; use allow_in_place_tablespaces and LOCATION ''"
        )
