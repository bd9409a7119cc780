"""The look at the host that `pgassay plan` takes.

Enters: a checked spec. Leaves: a `HostWatch` that has begun, then what it has seen. Never: imports
what makes a plan: the half second passes while that is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgassay.server.hosts.local import HERE
from pgassay.spec.experiment import Spec
from pgassay.trials.host.other_programs import HostWatch, OtherPrograms

if TYPE_CHECKING:  # it is loaded while the watch lasts
    from pgassay.cli.plan.found import Found

WATCHED_S = 0.5
"""A plan is read at once; the run itself watches its host for longer."""


def begin_watch(spec: Spec) -> HostWatch | None:
    """Begins to watch this host; None where trials run on other hosts."""
    target = spec.file.target
    return None if target.ssh is not None or target.fleet is not None else HostWatch(HERE)


def used_by_others(watch: HostWatch | None, spec: Spec, found: Found) -> OtherPrograms | None:
    """Returns what other programs use of this host; None where the server under test runs
    elsewhere, or cannot be told from them."""
    if watch is None:
        return None
    if not spec.file.loads_existing:
        return watch.used(WATCHED_S)
    postmaster = None if found.server is None else found.server.postmaster
    return None if postmaster is None else watch.used(WATCHED_S, (postmaster,))
