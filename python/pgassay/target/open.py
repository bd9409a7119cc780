"""Which target a spec's `[target]` table means.

Enters: its values, and those of a factor of servers. Leaves: a `Target`, not yet open.
Never: starts or reaches a server.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import LiteralString

from pgassay.errors import SetupError
from pgassay.spec.reset import EXISTING_RULE, OWNED_RULE, ResetLevel, ResetRule
from pgassay.target.access import SQL_ONLY, Access
from pgassay.target.existing import ExistingTarget
from pgassay.target.existing_copied import CopiedTarget
from pgassay.target.host_knobs import HostKnobs
from pgassay.target.installation import Installation, embedded_installation, installation_at
from pgassay.target.local import LocalTarget
from pgassay.target.placement import Place
from pgassay.target.protocol import Ground, Journal, Target
from pgassay.target.several import SeveralTargets


def make_target(
    *,
    version: int | None,
    bin: Path | None,  # noqa: A002 (the key users write)
    dsn: str | None,
    allow_changes: bool,
    accept: Collection[str] = (),
    journal: Journal,
    place: Place | None = None,
    access: Access = SQL_ONLY,
    rule: ResetRule | None = None,
    schema_variants: int = 0,
) -> Target:
    """The embedded server, that of a bin directory, or an existing one.

    `place` is for ours, `access` for the host of an existing one; `rule` is what every reset does,
    the standard of the server's kind where it is None. `schema_variants` are those to come, for
    which there must be room.
    """
    if dsn is not None:
        if (bin is not None and access.control is None) or version is not None:
            raise SetupError("target: dsn names an existing server; leave out bin and version")
        make: Callable[..., ExistingTarget] = ExistingTarget
        if rule is not None and rule.level is ResetLevel.SNAPSHOT:
            make = partial(CopiedTarget, schema_variants=schema_variants)
        return make(
            dsn,
            journal,
            allow_changes=allow_changes,
            accept=accept,
            access=access,
            rule=rule or EXISTING_RULE,
        )
    installation, kind = _found(version, bin)
    return LocalTarget(installation, journal, kind=kind, place=place, rule=rule or OWNED_RULE)


def make_several(
    servers: Mapping[str, int | Path | None],
    *,
    journal: Journal,
    place: Place | None = None,
    rule: ResetRule = OWNED_RULE,
    first: Ground | None = None,
    side_by_side: bool = False,
) -> Target:
    """One owned server for each name: an embedded version, or a bin directory.

    `first` is the ground that is opened first; `side_by_side` leaves the servers of all grounds up.
    """
    host = HostKnobs(journal)  # of all of them: they are on one host, and one alone has its lock
    makers: dict[str, Callable[[], LocalTarget]] = {}
    kinds: list[LiteralString] = []
    for name, server in servers.items():
        path = server if isinstance(server, Path) else None
        installation, kind = _found(None if isinstance(server, Path) else server, path)
        kinds.append(kind)
        makers[name] = partial(
            LocalTarget, installation, journal, kind=kind, place=place, host=host, rule=rule
        )
    whole: LiteralString = "embedded" if set(kinds) == {"embedded"} else "local"
    return SeveralTargets(makers, whole, first=first, side_by_side=side_by_side)


def _found(version: int | None, directory: Path | None) -> tuple[Installation, LiteralString]:
    if directory is None:
        return embedded_installation(version), "embedded"
    installation = installation_at(directory)
    if version is not None and installation.major != version:
        raise SetupError(
            f"target: {installation.bin_directory} is PostgreSQL {installation.version}, not "
            f"{version}; leave out target.version, or give the bin directory of {version}"
        )
    return installation, "local"
