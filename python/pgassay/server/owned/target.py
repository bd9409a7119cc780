"""The target on a server of pgassay's own.

Enters: where its data come from, settings, a function that builds the workload's data. Leaves: for
every trial what the reset rule asks for; as a rule the same data directory, put back from a frozen
copy, under a freshly started server.
Never: touches another server; everything it makes is in one directory, gone after `close`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, LiteralString, NamedTuple

from pgassay.errors import TargetError
from pgassay.notes import Note
from pgassay.refusals.refusal import RestoreRefused, SettingRefused, TargetRefused, opened
from pgassay.server.change import OwnedServerChange
from pgassay.server.connection.session import Work, as_target_error, connect, for_sql, version_text
from pgassay.server.data.caches import caveat, drop_from_caches, outside_caveat
from pgassay.server.data.reset import Phases, RestartFactors, settle_owned, vacuum
from pgassay.server.data.statistics import run_and_analyse
from pgassay.server.hosts.account import server_account
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.memory_group import MemoryUse, group_named
from pgassay.server.hosts.placement import Place
from pgassay.server.knobs.host_knobs import HostKnobs
from pgassay.server.owned.cluster import AS_BUILT, Cluster, Snapshots
from pgassay.server.owned.origin import PREWARM, DataOrigin, create_extensions, refuse_tablespaces
from pgassay.server.owned.postmaster import end_servers
from pgassay.server.owned.readable_copy import runnable_by
from pgassay.server.owned.settings_in_force import SettingsInForce
from pgassay.server.owned.workspace import (
    Workspace,
    base_directory,
    make_workspace,
    new_name,
    sweep,
)
from pgassay.server.protocol import (
    NO_LEVELS,
    NOTHING,
    Connection,
    ConnectionParameters,
    Journal,
    Levels,
    ResetLevel,
    ResetReport,
    SchemaVariant,
    ServerFacts,
    Setting,
    Testbed,
)
from pgassay.server.settings.values import check_value, read_settings, show
from pgassay.server.statements import statement
from pgassay.server.undo.killed_run import refuse_killed_run_on
from pgassay.server.undo.undoing import undo_each
from pgassay.spec.server.reset import OWNED_RULE, STARTS, Caches, ResetRule

CLOSE_GENTLE_S = 10.0
VACUUMS = frozenset({ResetLevel.RESTART, ResetLevel.VACUUM})


class Directory(NamedTuple):
    """A directory that a server of pgassay's own may run in."""

    workspace: Workspace
    made: OwnedServerChange
    """How it was journaled."""


class OwnedTarget:
    """The target of a run on a server that is started for it and removed after it; the methods are
    those of `Target`."""

    kind: LiteralString

    def __init__(
        self,
        origin: DataOrigin,
        journal: Journal,
        *,
        kind: LiteralString = "local",
        place: Place | None = None,
        host: HostKnobs | None = None,
        rule: ResetRule = OWNED_RULE,
    ) -> None:
        self.kind = kind
        self._origin = origin
        self._rule = rule
        self._restarts = RestartFactors()
        self._place = place
        self._journal = journal
        self._cluster: Cluster | None = None
        self._in_force: SettingsInForce | None = None
        self._made: OwnedServerChange | None = None
        self._host = host or HostKnobs(journal)
        self._held: dict[str, str] = {}
        self._held_host: dict[str, str] = {}
        self._built = False
        self._ready = False
        self._facts: ServerFacts | None = None
        self._layout: tuple[Any, ...] | None = None
        """What another server must agree in to read the same files."""
        self._snapshots = Snapshots()
        """Where there is one, the data directory may be lost at any time."""
        self._chosen = AS_BUILT
        self._caveats: tuple[Note, ...] = ()
        """Of the data; reported with the first reset."""

    def open(self) -> ServerFacts:
        account = server_account()
        base = base_directory(account)
        sweep(base)
        refuse_killed_run_on(HERE)
        installation = runnable_by(self._origin.installation(), account)
        name = new_name()
        limit = None if self._place is None else self._place.memory_bytes
        memory = None if limit is None else group_named(name, limit)
        change = OwnedServerChange(base=str(base), name=name)
        self._made = change
        self._journal.record(change)
        workspace = make_workspace(account, base, name, memory)
        cluster = Cluster(installation, workspace, self._place)
        self._cluster = cluster
        self._in_force = SettingsInForce(
            cluster,
            self.connect,
            may_lose_data=lambda: bool(self._snapshots),
            thaw=lambda: self._snapshots.thaw(cluster, self._chosen),
        )
        self._make_cluster()
        self._facts = self.facts()
        return self._facts

    def choose(self, testbed: Testbed) -> ServerFacts:
        self._opened()
        if self._snapshots and testbed.schema not in self._snapshots:
            raise TargetRefused("variant-not-made", variant=testbed.schema)
        self._chosen = testbed.schema
        if self._facts is None:
            self._facts = self.facts()
        return self._facts

    def park(self) -> None:
        """Stop the server, so that another one has the machine; a reset starts it again."""
        cluster = self._opened()
        cluster.stop(gently=not self._snapshots)
        if self._snapshots:
            cluster.discard()

    def vary(self, variant: SchemaVariant) -> float | None:
        cluster = self._opened()
        if not self._snapshots:
            raise TargetRefused("not-prepared", step="vary")
        if variant.name in self._snapshots:
            return None  # another server that shares them has made it
        self._snapshots.refuse_without_room(cluster)
        self._chosen = AS_BUILT
        cluster.stop(gently=False)
        self._snapshots.thaw(cluster)
        self._settings().start(self._held, {})
        with as_target_error("statistics of a variant"), self._unlimited() as control:
            took_s = run_and_analyse(self.parameters(), control, variant.parts)
            refuse_tablespaces(control)
            control.execute("CHECKPOINT")
        cluster.stop(gently=True)
        self._snapshots.freeze(cluster, variant.name)
        return took_s

    def prepare(
        self,
        build: Callable[[Connection], None],
        held: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
    ) -> None:
        cluster = self._opened()
        self.check_settings(held)
        cluster.limit_memory(lifted=True)
        if self._built:
            # Another workload must not find the roles, settings or WAL of the one before.
            self._ready = False
            self._snapshots = Snapshots()
            cluster.stop(gently=False)
            self._make_cluster()
        self._hold(held, host)
        self._settings().start(held, {})
        with for_sql(self.parameters()) as session:
            # What `build` raises belongs to the workload and is its caller's to explain.
            build(session)
        self._settle()
        if self._rule.level is ResetLevel.SNAPSHOT:
            cluster.stop(gently=True)
            self._snapshots.freeze(cluster)
            cluster.start()
        self._ready = True

    def share(
        self, other: OwnedTarget, held: Mapping[str, str], host: Mapping[str, str] = NOTHING
    ) -> bool:
        """Uses, in place of `prepare`, the frozen copies of another server, if there are any and
        this one can read them; returns whether it does."""
        if not other._snapshots or other._layout != self._layout:
            return False
        self.check_settings(held)
        self._hold(held, host)
        self._snapshots = other._snapshots
        self._opened().stop(gently=False)
        self._snapshots.thaw(self._opened())
        self._settings().start(held, {})
        self._ready = True
        return True

    @property
    def directory(self) -> Directory:
        """Where the server's data, socket and log are now."""
        return Directory(self._opened().workspace, opened(self._made))

    def vacate(self) -> None:
        """Stops the server, so that another one can have its directory."""
        if not self._snapshots:
            raise TargetRefused("not-prepared", step="vacate")
        self._opened().stop(gently=False)

    def occupy(self, directory: Directory) -> None:
        """Uses another directory from the next reset on; the server that had it has vacated it."""
        workspace = directory.workspace
        self._opened().workspace, self._made = workspace, directory.made
        if self._facts is not None:
            self._facts = replace(
                self._facts, data_directory=str(workspace.data), log_file=workspace.log_file
            )

    def check_settings(self, settings: Mapping[str, str]) -> None:
        cluster = self._opened()
        self._restarts.add(self._known_settings(), settings)
        for name, value in settings.items():
            if check_value(self._known_settings(), name, value) is None:
                continue
            reason = cluster.refusal(name, value)
            if reason is not None:
                raise SettingRefused(name, "server-does-not-start", value=value, why=reason)

    def check_host(self, knobs: Mapping[str, str]) -> None:
        self._host.check(knobs, self._opened().workspace.directory)

    def reset(
        self,
        settings: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
        *,
        restart: bool | None = None,
    ) -> ResetReport:
        cluster, in_force = self._opened(), self._settings()
        if not self._ready:
            raise TargetRefused("not-prepared", step="reset")
        phases, level = Phases(), self._rule.level
        wanted = {**self._held, **settings}
        restarts = level in STARTS or (self._restarts.any if restart is None else restart)
        known = self._known_settings()
        restarts = restarts or self._restarts.changed(known, in_force.values, wanted)
        if level in VACUUMS:
            with phases("vacuum"):
                vacuum(self._unlimited)
        if restarts:
            with phases("stop"):
                cluster.stop(gently=not self._snapshots)
        if self._snapshots:
            with phases("copy"):
                self._snapshots.thaw(cluster, self._chosen)
        knobs = self._host.apply({**self._held_host, **host}, cluster.workspace.directory)
        cluster.limit_memory()  # after the knobs, of which it takes one over
        caches = None
        if self._rule.caches is Caches.COLD:
            with phases("caches"):
                caches = drop_from_caches([cluster.workspace.data])
        with phases("start" if restarts else "settings"):
            bring = in_force.start if restarts else in_force.reload
            notes = bring(wanted, self._held)
        with as_target_error("settling the server before a trial"), self._unlimited() as session:
            data, limited = cluster.workspace.data, cluster.workspace.memory is not None
            caches = settle_owned(session, self._rule, data, phases, limited=limited) or caches
            shown = show(session, wanted)
        notes += filter(None, [caveat(caches), outside_caveat(cluster.cached_outside)])
        caveats, self._caveats = self._caveats, ()
        return ResetReport(
            level=level,
            duration_s=phases.total_s,
            restarted=restarts,
            settings=shown,
            notes=(*caveats, *notes),
            host=knobs,
            placement=cluster.placed(),
            phases=phases.seconds,
            caches=caches,
        )

    def announce(self, settings: Levels, host: Levels = NO_LEVELS) -> None:
        """Journals the knobs alone: the settings are in the directory that is removed."""
        self._host.announce(host, self._opened().workspace.directory)

    def alternate(self, host: Mapping[str, str]) -> Mapping[str, str]:
        workspace = self._opened().workspace
        before = self._host.alternate(host, workspace.directory)
        if workspace.memory is not None:
            workspace.memory.take_swappiness()
        return before

    def host(self) -> Host:
        return HERE

    def host_as_found(self) -> Mapping[str, str]:
        return self._host.found

    def memory_use(self) -> MemoryUse | None:
        group = self._opened().workspace.memory
        return None if group is None else group.use()

    def parameters(self) -> ConnectionParameters:
        return self._origin.for_load(self._opened())

    def connect(self) -> Connection:
        return connect(self._for_control(), work=Work.OWN_CHANGES)

    def facts(self) -> ServerFacts:
        cluster = self._opened()
        with as_target_error("looking at the server"), self.connect() as session:
            return ServerFacts(
                version_num=session.info.server_version,
                version=cluster.installation.version,
                data_directory=str(cluster.workspace.data),
                is_local=True,
                log_file=cluster.workspace.log_file,
                settings=read_settings(session),
                build=version_text(session),
            )

    def compared(self) -> None:
        """Returns None: nothing is left of a server of pgassay's own."""

    def close(self) -> None:
        undo_each(self._remove_server, self._host.restore)

    def _remove_server(self) -> None:
        cluster, change = self._cluster, self._made
        try:
            if cluster is not None:
                end_servers(cluster.workspace.data, gentle_s=CLOSE_GENTLE_S)
                cluster.workspace.remove()
        except TargetError as error:
            raise RestoreRefused("owned-server-not-removed", why=error) from error
        self._cluster = self._in_force = None
        self._ready = False
        self._snapshots = Snapshots()
        if change is not None:
            self._journal.undone(change.id)
            self._made = None

    def _make_cluster(self) -> None:
        cluster = self._opened()
        self._origin.make(cluster)
        cluster.start()
        self._origin.complete(cluster)
        self._caveats = self._origin.notes
        with as_target_error("looking at the server"), self.connect() as session:
            self._layout = session.execute(statement("data/file_layout")).fetchone()

    def _hold(self, held: Mapping[str, str], host: Mapping[str, str]) -> None:
        """Note what all resets are to set, and set the knobs of the host."""
        self._built = True
        self._held, self._held_host = dict(held), dict(host)
        self.check_host(host)
        self._host.apply(host, self._opened().workspace.directory)

    def _opened(self) -> Cluster:
        return opened(self._cluster)

    def _settings(self) -> SettingsInForce:
        return opened(self._in_force)

    def _for_control(self) -> ConnectionParameters:
        return self._origin.for_control(self._opened())

    def _unlimited(self) -> Connection:
        return connect(self._for_control(), work=Work.OWN_CHANGES, statement_limit_s=0)

    def _known_settings(self) -> Mapping[str, Setting]:
        return self._facts.settings if self._facts else {}

    def _settle(self) -> None:
        """Vacuum and checkpoint: every trial starts from hint bits set and pages on disk."""
        with as_target_error("settling the data"), self._unlimited() as session:
            create_extensions(session, PREWARM if self._rule.caches is Caches.WARM else ())
            self._origin.vacuum(session)
            session.execute("CHECKPOINT")
