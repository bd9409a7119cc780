"""Which target a spec's `[target]` table means.

Enters: its values. Leaves: a `Target`, not yet open. Never: starts or reaches a server.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pgassay.errors import SetupError
from pgassay.spec.reset import EXISTING_RULE, OWNED_RULE, ResetRule
from pgassay.target.existing import ExistingTarget
from pgassay.target.installation import embedded_installation, installation_at
from pgassay.target.local import LocalTarget
from pgassay.target.placement import Place
from pgassay.target.protocol import Journal, Target


def make_target(
    *,
    version: int | None,
    bin: Path | None,  # noqa: A002 (the key users write)
    dsn: str | None,
    allow_changes: bool,
    accept: Collection[str] = (),
    journal: Journal,
    place: Place | None = None,
    rule: ResetRule | None = None,
) -> Target:
    """The embedded server, that of a bin directory, or an existing one; `place` is for ours.

    `rule` is what every reset does; the standard of the server's kind where it is None.
    """
    if dsn is not None:
        if bin is not None or version is not None:
            raise SetupError("target: dsn names an existing server; leave out bin and version")
        return ExistingTarget(
            dsn, journal, allow_changes=allow_changes, accept=accept, rule=rule or EXISTING_RULE
        )
    rule = rule or OWNED_RULE
    if bin is None:
        installation = embedded_installation(version)
        return LocalTarget(installation, journal, kind="embedded", place=place, rule=rule)
    installation = installation_at(bin)
    if version is not None and installation.major != version:
        raise SetupError(
            f"target: {installation.bin_directory} is PostgreSQL {installation.version}, not "
            f"{version}; leave out target.version, or give the bin directory of {version}"
        )
    return LocalTarget(installation, journal, kind="local", place=place, rule=rule)
