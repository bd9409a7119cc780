"""CPUs and niceness for threads and processes, given by inheritance and read back.

Enters: the `[placement]` table, work that starts something. Leaves: what was started, placed from
its first instruction on. Never: moves pgassay's own main thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pgassay.refusals.refusal import Refusal, TargetRefused
from pgassay.server.protocol import NOTHING
from pgassay.spec.server.placement import PlacementTable, as_list, cpus_in, memory_text, node_in

ONLINE = Path("/sys/devices/system/cpu/online")
NODES = Path("/sys/devices/system/node")
SYSCTL = Path("/proc/sys")
AUTOGROUP = "kernel.sched_autogroup_enabled"
PARTS = ("server", "client", "sampler")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Place:
    """Where something runs; what is None is left to the kernel."""

    cpus: frozenset[int] | None = None
    nice: int | None = None
    memory_bytes: int | None = None
    """Limit of a control group of its own; only a server has one (memory_group.py)."""

    @property
    def label(self) -> str:
        cpus = [] if self.cpus is None else [f"CPUs {as_list(self.cpus)}"]
        nice = [] if self.nice is None else [f"nice {self.nice}"]
        limit = self.memory_bytes
        memory = [] if limit is None else [f"memory {memory_text(limit)}"]
        return ", ".join(cpus + nice + memory)


@dataclass(frozen=True)
class Placement:
    """The places of one experiment, with warnings about them."""

    server: Place | None = None
    client: Place | None = None
    sampler: Place | None = None
    warnings: tuple[str, ...] = ()

    @property
    def keeps_client_alone(self) -> bool:
        """Whether the load has CPUs that the server has not."""
        server, client = self.server, self.client
        if not (server and client and server.cpus and client.cpus):
            return False
        return not server.cpus & client.cpus

    def described(self) -> dict[str, str]:
        """Returns the place of each part that has one, in words."""
        places = {part: getattr(self, part) for part in PARTS}
        return {part: place.label for part, place in places.items() if place is not None}


NOWHERE = Placement()


def resolve_placement(table: PlacementTable, held: Mapping[str, str] = NOTHING) -> Placement:
    """The table on this host; `Refusal` where it has no such CPU or may not place there.

    `held` are knobs of the host that the experiment sets.
    """
    server, client, sampler = (_place(table, part) for part in PARTS)
    warnings = []
    if server and client and server.cpus and client.cpus and server.cpus & client.cpus:
        warnings.append(
            f"server and client share CPU {as_list(server.cpus & client.cpus)}: each slows the "
            "other, which the result will show; give them CPUs of their own"
        )
    nice = any(place is not None and place.nice is not None for place in (server, client, sampler))
    if nice and held.get(AUTOGROUP, _text(SYSCTL / AUTOGROUP.replace(".", "/"))) == "1":
        warnings.append(
            "niceness counts only among processes of one session while the host groups sessions; "
            f'hold "{AUTOGROUP}" = 0 in [settings.host]'
        )
    return Placement(server, client, sampler, tuple(warnings))


def run_in(place: Place | None, work: Callable[[], Result]) -> Result:
    """Do work whose threads and processes are to live in `place`.

    They inherit it from a thread that ends with the work, so nothing of theirs runs
    elsewhere, and a niceness that could not be lowered again stays with them.
    """
    if place is None:
        return work()
    results: list[Result] = []
    problems: list[BaseException] = []

    def placed() -> None:
        try:
            _enter(place)
            results.append(work())
        except BaseException as error:
            problems.append(error)  # raised again where the work was asked for

    thread = threading.Thread(target=placed, name="pgassay-place", daemon=True)
    thread.start()
    interrupted: BaseException | None = None
    while thread.is_alive():
        try:
            thread.join()
        except BaseException as error:
            interrupted = error  # half-started work must not be left
    if interrupted is not None:
        raise interrupted
    if problems:
        raise problems[0]
    return results[0]


def threads() -> set[int]:
    """The threads of this process that are not Python's: those of the native module.

    The name would not do: a thread sets it only once it runs.
    """
    ours = {thread.native_id for thread in threading.enumerate()}
    return {int(path.name) for path in Path("/proc/self/task").iterdir()} - ours


def confirm_place(what: str, place: Place | None, tasks: Collection[int]) -> dict[str, str]:
    """Where tasks run, as /proc says; TargetError where that is not the place asked for."""
    if place is None:
        return {}
    places = [found for task in tasks if (found := _of_task(task)) is not None]
    wanted_cpus = None if place.cpus is None else as_list(place.cpus)
    for cpus, nice in places:
        if wanted_cpus not in (None, cpus) or place.nice not in (None, nice):
            raise TargetRefused(
                "place-not-taken", f"placement.{what}", asked=place.label, cpus=cpus, nice=nice
            )
    if not places:
        raise TargetRefused("place-of-nothing", f"placement.{what}")
    cpus, nice = places[0]
    return {"cpus": cpus, "nice": str(nice), "tasks": str(len(places))}


def _place(table: PlacementTable, part: str) -> Place | None:
    listed: str | None = getattr(table, part)
    nice: int | None = getattr(table, f"{part}_nice")
    memory_bytes = table.server_memory if part == "server" else None
    if listed is None and nice is None and memory_bytes is None:
        return None
    cpus = None if listed is None else _cpus(listed, f"placement.{part}")
    place = Place(cpus, nice, memory_bytes)
    try:
        allowed = run_in(place, lambda: os.sched_getaffinity(0))
    except OSError as error:
        key = f"placement.{part}" if nice is None else f"placement.{part}_nice"
        raise Refusal("place-not-allowed", key, place=place.label, why=error.strerror) from None
    if cpus is not None and allowed != cpus:
        values = {"allowed": as_list(allowed), "listed": listed}
        raise Refusal("place-held-back", f"placement.{part}", **values)
    return place


def _cpus(listed: str, key: str) -> frozenset[int]:
    online = cpus_in(_text(ONLINE))
    node = node_in(listed)
    if node is None:
        asked = cpus_in(listed)
    else:
        asked = cpus_in(_text(NODES / f"node{node}" / "cpulist"))
        if not asked:
            names = sorted(path.name[4:] for path in NODES.glob("node[0-9]*")) or ["none"]
            raise Refusal("no-such-node", key, node=node, names=", ".join(names))
    missing = asked - online
    if missing:
        raise Refusal("no-such-cpu", key, missing=as_list(missing), online=as_list(online))
    return asked


def _enter(place: Place) -> None:
    """Place the calling thread: Linux keeps CPUs and niceness per thread."""
    own = threading.get_native_id()
    if place.cpus is not None:
        os.sched_setaffinity(own, place.cpus)
    if place.nice is not None:
        os.setpriority(os.PRIO_PROCESS, own, place.nice)


def _of_task(task: int) -> tuple[str, int] | None:
    """CPUs and niceness of a thread or process; None where it has ended."""
    try:
        status = Path(f"/proc/{task}/status").read_text()
        nice = os.getpriority(os.PRIO_PROCESS, task)
    except OSError:
        return None
    cpus = next(line for line in status.splitlines() if line.startswith("Cpus_allowed_list:"))
    return cpus.partition(":")[2].strip(), nice


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
