"""The servers of pgassay's own that an experiment compares, looked at before one is started.

Enters: a checked spec. Leaves: the installation behind each level, or an error that names the key
and, for a setting that a version lacks, the version. Never: starts a server.
"""

from __future__ import annotations

from pgassay.errors import SetupError, SpecError
from pgassay.spec.parse import Spec
from pgassay.spec.paths import path_from
from pgassay.spec.settings import check_setting
from pgassay.target.installation import Installation, embedded_installation, installation_at


def servers_under_test(spec: Spec) -> dict[str, Installation]:
    """Name of the level → its programs; empty where one server alone is tested."""
    levels = spec.file.factors.target
    key = "factors.target.version" if levels.version is not None else "factors.target.bin"
    found = {}
    for name, server in levels.servers().items():
        try:
            if isinstance(server, int):
                found[name] = embedded_installation(server)
            else:
                found[name] = installation_at(path_from(server, spec.folder))
        except SetupError as error:
            text = str(error).replace("target.bin: ", "").replace("target.version: ", "")
            raise SpecError(text, file=spec.source, key=key) from None
    return found


def check_servers(spec: Spec) -> None:
    """Refuse a server that is not there, and a setting that one of the versions lacks."""
    held = spec.file.settings.postgres
    varied = spec.file.factors.postgres
    settings: list[tuple[str, str, tuple[str, ...]]] = [
        *((f"settings.postgres.{name}", name, (value,)) for name, value in held.items()),
        *((f"factors.postgres.{name}", name, levels) for name, levels in varied.items()),
    ]
    for installation in servers_under_test(spec).values():
        for key, name, values in settings:
            for value in values:
                try:
                    check_setting(key, name, value, installation.major)
                except SpecError as error:
                    raise SpecError(error.problem, file=spec.source, key=key) from None
