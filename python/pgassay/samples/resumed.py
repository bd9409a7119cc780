"""A run that is resumed: what it has done so far, and whether the server is still the same.

Enters: what the run directory holds, and the present environment. Leaves: the environment with a
note that the run was resumed, or a SetupError that names the differences.
Never: opens a server or a run directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from shlex import quote
from typing import Any

from pgassay.refusals.refusal import SetupRefused
from pgassay.samples.forms.environment import EnvironmentFile, Server
from pgassay.trials.model.record import Validity

_HOST = {key: f"host.{key}" for key in ("kernel", "architecture", "cpu", "cpus", "memory_bytes")}
_NAMED_BY_THE_RUN = ("unix_socket_directories",)
"""Settings of an owned server that contain the name of its directory."""
_ABSENT = "not set"


@dataclass(frozen=True)
class RunSoFar:
    """What a run has done so far; nothing for a new one."""

    environment: EnvironmentFile = field(default_factory=EnvironmentFile)
    """environment.json; empty where the run broke off before its server was ready."""
    finished: Mapping[int, Validity] = field(default_factory=dict)
    """The trials that are stored, by number, and whether they count."""
    accepted: frozenset[str] = frozenset()
    """Names of differences that the user accepts."""
    resumed: bool = False

    def refuse_other_server(self, now: Mapping[str, Any]) -> None:
        """Refuses another kind or version of server, before anything is built."""
        found = self.differences(now)
        self._refuse({name: found[name] for name in ("target", "version") if name in found})

    def continued(self, now: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the environment to store: the first one, with a note for each resumption."""
        if not self.resumed:
            return dict(now)
        found = self.differences(now)
        self._refuse(found)
        note = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "after_trials": len(self.finished),
            **({"accepted": sorted(found)} if found else {}),
        }
        began = self.environment.given or now
        return {**began, "resumed": [*began.get("resumed", []), note]}

    def differences(self, now: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        """Returns, by name, the values before and now of everything that would make later trials
        incomparable."""
        if not self.environment.given:
            return {}
        old, new = _compared(self.environment), _compared(EnvironmentFile.model_validate(now))
        found = {name: (old.get(name, _ABSENT), new.get(name, _ABSENT)) for name in {**old, **new}}
        return {
            name: pair
            for name, pair in found.items()
            # A fact about the host is compared only if both runs could read it.
            if pair[0] != pair[1] and not (name in _HOST.values() and _ABSENT in pair)
        }

    def _refuse(self, found: Mapping[str, tuple[str, str]]) -> None:
        refused = {name: pair for name, pair in found.items() if name not in self.accepted}
        if refused:
            named = "; ".join(f"{name} was {a}, is {b}" for name, (a, b) in refused.items())
            names = " ".join(f"--accept {quote(name)}" for name in refused)
            raise SetupRefused("server-changed-meanwhile", named=named, names=names)


def _compared(environment: EnvironmentFile) -> dict[str, str]:
    """By name, what must stay the same: server, version, settings, host."""
    server, host, target = environment.server, environment.host.given, str(environment.target)
    found = {"target": target, "version": str(server.version), **_settings(server, target)}
    for name, other in environment.servers.items():
        found[f"version on {name}"] = str(other.version)
        found |= {f"{key} on {name}": value for key, value in _settings(other, target).items()}
    return found | {label: str(host[key]) for key, label in _HOST.items() if key in host}


def _settings(server: Server, target: str) -> dict[str, str]:
    owned = not target.startswith("existing")
    return {
        name: str(value)
        for name, value in sorted(server.settings.items())
        if not (owned and name in _NAMED_BY_THE_RUN)
    }
