"""The target of a run: one server, or several where the arms need more than one.

Enters: the `[target]` table, the testbeds of the arms. Leaves: a `Target` that is not open yet.
Never: starts or reaches a server.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.server.copied.origin import ServerCopy
from pgassay.server.existing.access import access_of
from pgassay.server.hosts.placement import Place
from pgassay.server.open import make_several, make_target
from pgassay.server.protocol import Journal, Target
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.texts import path_from
from pgassay.trials.run.testbeds import Testbeds


def target_of(
    file: ExperimentFile,
    folder: Path,
    testbeds: Testbeds,
    journal: Journal,
    place: Place | None,
    *,
    limited: bool = False,
) -> Target:
    """Returns the target that a `[target]` table names. `folder` is that of the experiment file:
    relative paths begin there. `limited`: the SQL of the workload runs as a role without rights
    outside of its database."""
    table, servers = file.target, file.factors.target.servers()
    installed = next(iter(testbeds.datasets.values())).installed
    path = None if table.bin is None else path_from(table.bin, folder)
    copy = None
    if file.copies_existing:
        copy = ServerCopy(
            table.dsn or "",
            bin_directory=path,
            accept=table.accept,
            servers=len(testbeds.datasets),
            schema_variants=len(testbeds.schema_variants),
            side_by_side=testbeds.side_by_side,
            installed=installed,
            overrides={
                **file.settings.postgres,
                **{name: levels[0] for name, levels in file.factors.postgres.items()},
            },
        )
    if testbeds.are_several or servers or testbeds.side_by_side:
        only = {"": copy or (table.bin if table.bin is not None else table.version)}
        made_from = {
            name: path_from(server, folder) if isinstance(server, str) else server
            for name, server in (servers or only).items()
            if name in {testbed.server for testbed in testbeds.datasets}
        }
        return make_several(
            made_from,
            journal=journal,
            place=place,
            rule=file.reset_rule(),
            first=next(iter(testbeds.datasets)),
            side_by_side=testbeds.side_by_side,
            limited=limited,
        )
    return make_target(
        version=table.version,
        bin=path,
        dsn=table.dsn,
        copy=copy,
        allow_changes=table.allow_changes,
        accept=table.accept,
        journal=journal,
        place=place,
        access=access_of(table),
        installed=installed,
        rule=file.reset_rule(),
        limited=limited,
    )
