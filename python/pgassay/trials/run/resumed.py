"""A run that is resumed: what it has done so far, and whether the server is still the same.

Enters: what the run directory holds, and the present environment. Leaves: the environment with a
note that the run was resumed, or a SetupError that names the differences.
Never: opens a server or a run directory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from shlex import quote
from typing import Any

from pgassay.errors import SetupError
from pgassay.trials.model.record import Validity

_HOST = ("kernel", "architecture", "cpu", "cpus", "memory_bytes")
_NAMED_BY_THE_RUN = ("unix_socket_directories",)
"""Settings of an owned server that contain the name of its directory."""
_ABSENT = "not set"


@dataclass(frozen=True)
class RunSoFar:
    """What a run has done so far; nothing for a new one."""

    environment: Mapping[str, Any] = field(default_factory=dict)
    """environment.json; empty where the run broke off before its server was ready."""
    finished: Mapping[int, Validity] = field(default_factory=dict)
    """The trials that are stored, by number, and whether they count."""
    accepted: frozenset[str] = frozenset()
    """Names of differences that the user accepts."""
    resumed: bool = False

    def refuse_other_server(self, now: Mapping[str, Any]) -> None:
        """Refuse another kind or version of server, before anything is built."""
        self._refuse(dict(_kinds(self.environment, now)))

    def continued(self, now: Mapping[str, Any]) -> dict[str, Any]:
        """The environment to store: the first one, with a note for each resumption."""
        if not self.resumed:
            return dict(now)
        found = dict(differences(self.environment, now))
        self._refuse(found)
        note = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "after_trials": len(self.finished),
            **({"accepted": sorted(found)} if found else {}),
        }
        began = self.environment or now
        return {**began, "resumed": [*began.get("resumed", []), note]}

    def _refuse(self, found: Mapping[str, tuple[str, str]]) -> None:
        refused = {name: pair for name, pair in found.items() if name not in self.accepted}
        if refused:
            named = "; ".join(f"{name} was {a}, is {b}" for name, (a, b) in refused.items())
            names = " ".join(f"--accept {quote(name)}" for name in refused)
            raise SetupError(
                f"the server changed since the run began: {named}; change it back, or resume"
                f" anyway with {names}"
            )


def differences(
    before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """(name, (before, now)) of everything that would make later trials incomparable."""
    if not before:
        return
    yield from _kinds(before, now)
    owned = not str(before.get("target")).startswith("existing")
    yield from _settings(_part(before, "server"), _part(now, "server"), owned=owned)
    servers, servers_now = _part(before, "servers"), _part(now, "servers")
    for server in servers:
        was, is_now = _part(servers, server), _part(servers_now, server)
        versions = (str(was.get("version")), str(is_now.get("version")))
        if versions[0] != versions[1]:
            yield f"version on {server}", versions
        for name, pair in _settings(was, is_now, owned=owned):
            yield f"{name} on {server}", pair
    host, host_now = _part(before, "host"), _part(now, "host")
    for name in _HOST:
        pair = (str(host.get(name)), str(host_now.get(name)))
        if name in host and name in host_now and pair[0] != pair[1]:
            yield f"host.{name}", pair


def _settings(
    before: Mapping[str, Any], now: Mapping[str, Any], *, owned: bool
) -> Iterator[tuple[str, tuple[str, str]]]:
    was, is_now = _part(before, "settings"), _part(now, "settings")
    for name in sorted({*was, *is_now}):
        pair = (str(was.get(name, _ABSENT)), str(is_now.get(name, _ABSENT)))
        if pair[0] != pair[1] and not (owned and name in _NAMED_BY_THE_RUN):
            yield name, pair


def _kinds(
    before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, tuple[str, str]]]:
    if not before:
        return
    kinds = {
        "target": (before.get("target"), now.get("target")),
        "version": (_part(before, "server").get("version"), _part(now, "server").get("version")),
    }
    for name, (was, is_now) in kinds.items():
        if was != is_now:
            yield name, (str(was), str(is_now))


def _part(environment: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = environment.get(name)
    return found if isinstance(found, Mapping) else {}
