"""The settings that an owned server runs with, confirmed after each start or reload.

Enters: a cluster, a way to a control session, what puts the data back. Leaves: the server running
with the settings asked for, or with safe ones and a SettingRejected.
Never: leaves the server down because a setting was refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pgassay.errors import SettingRejected
from pgassay.notes import Note
from pgassay.refusals.refusal import SettingRefused
from pgassay.server.connection.session import as_target_error
from pgassay.server.owned.cluster import Cluster
from pgassay.server.owned.postmaster import StartError, blamed
from pgassay.server.protocol import Connection
from pgassay.server.settings.statements import reload
from pgassay.server.settings.values import confirm, find, read_settings


class SettingsInForce:
    """The settings that one server of pgassay's own runs with now."""

    def __init__(
        self,
        cluster: Cluster,
        control: Callable[[], Connection],
        *,
        may_lose_data: Callable[[], bool],
        thaw: Callable[[], None],
    ) -> None:
        """`thaw` puts the data back where `may_lose_data()`, after a start that failed."""
        self._cluster = cluster
        self._control = control
        self._may_lose_data = may_lose_data
        self._thaw = thaw
        self.values: dict[str, str] = {}

    def start(self, wanted: Mapping[str, str], safe: Mapping[str, str]) -> list[Note]:
        """Starts the server with `wanted`; returns notes on values that it spells in
        another way."""
        cluster = self._cluster
        cluster.stop(gently=not self._may_lose_data())
        cluster.configure(wanted)
        try:
            cluster.start()
            return self._confirmed(wanted)
        except StartError as error:
            self._go_back_to(safe)
            changed = {n: value for n, value in wanted.items() if value != safe.get(n)}
            culprit = blamed(error.words, changed)
            if not culprit:
                raise
            values = ", ".join(wanted[name] for name in culprit)
            raise SettingRefused(
                ", ".join(culprit), "server-does-not-start", value=values, why=error
            ) from None
        except SettingRejected:
            self._go_back_to(safe)
            raise

    def reload(self, wanted: Mapping[str, str], safe: Mapping[str, str]) -> list[Note]:
        """Brings `wanted` into force by a reload; returns notes on values that the server spells in
        another way."""
        self._cluster.configure(wanted)
        try:
            with as_target_error("changing settings"), self._control() as session:
                reload(session)
            return self._confirmed(wanted)
        except SettingRejected:
            self._go_back_to(safe)
            raise

    def _confirmed(self, wanted: Mapping[str, str]) -> list[Note]:
        with as_target_error("reading settings back"), self._control() as session:
            found = read_settings(session)
        notes = [confirm(value, find(found, name), name) for name, value in wanted.items()]
        self.values = dict(wanted)
        return [note for note in notes if note is not None]

    def _go_back_to(self, safe: Mapping[str, str]) -> None:
        self._cluster.stop(gently=not self._may_lose_data())
        if self._may_lose_data():
            self._thaw()
        self._cluster.configure(safe)
        self._cluster.start()
        self.values = dict(safe)
