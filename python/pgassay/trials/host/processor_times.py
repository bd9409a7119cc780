"""Who used the host's processors: the server, pgassay, others, or the hypervisor.

Enters: two readings of the host's processes. Leaves: the split of the processors' time between
them. Never: fails where the host reports nothing; there is no split then.

Other programs are measured by user time alone: what the kernel does for the server (write-back,
interrupts) belongs to no process, and would be counted as theirs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pgassay.trials.host.processes import ProcessReading, grown_between

_NOT_BUSY = ("idle", "iowait", "steal")


@dataclass(frozen=True)
class ProcessorSplit:
    """How the processors' time was used between two moments, in seconds."""

    all_s: float
    """Of all processors, idle ones too."""
    busy_s: float
    server_s: float
    client_s: float
    """pgassay itself, samplers included, and the programs it ran."""
    foreign_user_s: float
    steal_s: float

    @property
    def foreign_share(self) -> float:
        """Returns the share of the processors that other programs used."""
        return self.foreign_user_s / self.all_s if self.all_s > 0 else 0.0


def split_between(
    before: ProcessReading | None,
    after: ProcessReading | None,
    postmasters: Collection[int],
) -> ProcessorSplit | None:
    """Returns how the processors were used between two readings, with the first processes of all
    servers under test; None where a reading is missing, or one of these was replaced."""
    if before is None or after is None:
        return None
    for pid in postmasters:
        old, new = before.processes.get(pid), after.processes.get(pid)
        if old is None or new is None or old.started != new.started:
            return None
    spent = {kind: time - before.processors_s[kind] for kind, time in after.processors_s.items()}
    grown, servers = grown_between(before, after), after.below(postmasters)
    own = after.own - servers
    ours = sum(grown[pid].user_s for pid in servers | own)
    return ProcessorSplit(
        all_s=sum(spent.values()),
        busy_s=sum(time for kind, time in spent.items() if kind not in _NOT_BUSY),
        server_s=sum(grown[pid].all_s for pid in servers),
        client_s=sum(grown[pid].all_s for pid in own),
        foreign_user_s=max(0.0, spent["user"] + spent["nice"] - ours),
        steal_s=spent["steal"],
    )
