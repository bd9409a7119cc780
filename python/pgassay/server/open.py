"""Makes the target that a spec's `[target]` table describes.

Enters: the table's values, and those of a factor of servers. Leaves: a `Target`, not yet open.
Never: starts or reaches a server.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import LiteralString

from pgassay.refusals.refusal import SetupRefused
from pgassay.server.copied.origin import ServerCopy
from pgassay.server.existing.access import SQL_ONLY, Access
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.placement import Place
from pgassay.server.knobs.host_knobs import HostKnobs
from pgassay.server.owned.installation import Installation, embedded_installation, installation_at
from pgassay.server.owned.origin import DataOrigin, NewCluster, has_statements
from pgassay.server.owned.several_targets import SeveralTargets
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.protocol import Journal, Target, Testbed
from pgassay.spec.server.reset import EXISTING_RULE, OWNED_RULE, ResetRule
from pgassay.spec.workload.folder import InstalledTables

COPIED: LiteralString = "copied"


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
    copy: ServerCopy | None = None,
    installed: InstalledTables | None = None,
    limited: bool = False,
) -> Target:
    """The embedded server, that of a bin directory, a copy of an existing one, or that itself.

    `place` is for an owned server, `access` for the host of an existing one; `rule` is what every
    reset does, the standard of the server's kind where it is None. `limited` is for a new server:
    the workload's role has no rights outside of its database.
    """
    if copy is not None:
        return OwnedTarget(copy, journal, kind=COPIED, place=place, rule=rule or OWNED_RULE)
    if dsn is not None:
        if (bin is not None and access.control is None) or version is not None:
            raise SetupRefused("programs-beside-dsn")
        return ExistingTarget(
            dsn,
            journal,
            allow_changes=allow_changes,
            accept=accept,
            access=access,
            rule=rule or EXISTING_RULE,
            installed=installed,
        )
    installation, kind = _installation(bin if bin is not None else version, version)
    return OwnedTarget(
        NewCluster(installation, limited=limited),
        journal,
        kind=kind,
        place=place,
        rule=rule or OWNED_RULE,
    )


def make_several(
    servers: Mapping[str, int | Path | ServerCopy | None],
    *,
    journal: Journal,
    place: Place | None = None,
    rule: ResetRule = OWNED_RULE,
    first: Testbed | None = None,
    side_by_side: bool = False,
    limited: bool = False,
) -> Target:
    """Makes one owned server for each name: an embedded version, a bin directory, or a copy.

    `first` is the testbed that is opened first; `side_by_side` leaves all servers up. Statements
    are counted on all of them or on none, for what that costs must not differ between them. Of
    `limited` see `make_target`.
    """
    found = {
        name: _installation(server)
        for name, server in servers.items()
        if not isinstance(server, ServerCopy)
    }
    counts = all(has_statements(installation) for installation, _ in found.values())
    host = HostKnobs(journal)  # of all of them: they are on one host, and one alone has its lock
    makers: dict[str, Callable[[], OwnedTarget]] = {}
    kinds: set[LiteralString] = set()
    for name, server in servers.items():
        origin: DataOrigin
        kind = COPIED
        if isinstance(server, ServerCopy):
            origin = server
        else:
            installation, kind = found[name]
            origin = NewCluster(installation, counts_statements=counts, limited=limited)
        kinds.add(kind)
        makers[name] = partial(
            OwnedTarget, origin, journal, kind=kind, place=place, host=host, rule=rule
        )
    whole: LiteralString = next(iter(kinds)) if len(kinds) == 1 else "local"
    return SeveralTargets(makers, whole, first=first, side_by_side=side_by_side)


def _installation(
    server: int | Path | None, version: int | None = None
) -> tuple[Installation, LiteralString]:
    if not isinstance(server, Path):
        return embedded_installation(server), "embedded"
    installation = installation_at(server)
    if version is not None and installation.major != version:
        raise SetupRefused(
            "programs-of-another-major",
            directory=installation.bin_directory,
            found=installation.version,
            version=version,
        )
    return installation, "local"
