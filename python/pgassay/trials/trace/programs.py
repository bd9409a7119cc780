"""The tracing programs, which of them fit a server, and what the points that they trace are called.

Enters: a server's version, symbols and static probes; parts that were asked for. Leaves: one
bpftrace program, the way each point is traced, one line for each point that cannot be; titles,
names of keys and what a hit costs, by `points.toml`. Never: starts anything.

A program is `programs/NAME.bt`. Its head names the part and point it traces, the way (`usdt` or
`uprobe`), the server versions (`server_version_num`) from which and below which it holds, and the
probes or symbols that it needs.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pgassay.language import messages_of
from pgassay.notes import Note
from pgassay.trials.trace.output import PointReading

if TYPE_CHECKING:  # which loads psycopg, for nothing in a report
    from pgassay.trials.trace.server import TracedServer

PARTS = ("lwlocks", "checkpoints", "io", "wal", "inserts")
"""What `--what` may name."""
PHASES = "phases"
"""The point whose program prints events; all others fill histograms."""
_WAYS = ("usdt", "uprobe")
"""In the order of preference."""
_HEAD = re.compile(r"^// (Part|Point|Way|Floor|Below|Needs): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A tracing program: one .bt file."""

    name: str
    part: str
    point: str
    way: str
    floor: int
    below: float
    needs: tuple[str, ...]
    text: str

    def holds_for(self, version: int) -> bool:
        """Whether the program was written for this version of the server."""
        return self.floor <= version < self.below

    def lacks(self, server: TracedServer) -> tuple[str, ...]:
        """Returns the probes or symbols that the server's program does not have."""
        there: Collection[str] = server.points if self.way == "usdt" else server.functions
        return tuple(name for name in self.needs if name not in there)


@dataclass(frozen=True)
class Chosen:
    """The points that are traced, and those that are not."""

    programs: tuple[Program, ...]
    missing: tuple[Note, ...]
    """One for each point that cannot be traced, with the fix."""

    @property
    def points(self) -> tuple[str, ...]:
        """The names of the points that have histograms."""
        return tuple(one.point for one in self.programs if one.point != PHASES)

    def costs_ns(self, server: TracedServer) -> dict[str, float]:
        """Returns, by point, what one pair of its probes takes from the traced process, about."""
        return {
            one.point: pair_cost_ns(stepped=any(name in server.stepped for name in one.needs))
            for one in self.programs
        }

    @property
    def ways(self) -> dict[str, str]:
        """The way of each point: `usdt` or `uprobe`."""
        return {one.point: one.way for one in self.programs}


@cache
def all_programs() -> tuple[Program, ...]:
    """Returns every tracing program of the package."""
    folder = files(__package__) / "programs"
    found = sorted(folder.iterdir(), key=lambda file: file.name)
    return tuple(_parsed(file.name, file.read_text("utf-8")) for file in found)


def _parsed(name: str, text: str) -> Program:
    head = dict(_HEAD.findall(text))
    return Program(
        name=name,
        part=head["Part"],
        point=head["Point"],
        way=head["Way"],
        floor=int(head["Floor"]),
        below=float("inf") if head["Below"] == "-" else int(head["Below"]),
        needs=tuple(head["Needs"].split()),
        text=text,
    )


def choose(server: TracedServer, parts: Sequence[str]) -> Chosen:
    """Chooses the best program of each point for a server."""
    programs: list[Program] = []
    missing: list[Note] = []
    wanted = [one for part in PARTS if part in parts for one in all_programs() if one.part == part]
    for point in dict.fromkeys(one.point for one in wanted):
        fitting = [
            one for one in wanted if one.point == point and one.holds_for(server.version_num)
        ]
        fitting.sort(key=lambda one: (_WAYS.index(one.way), -one.floor))
        usable = next((one for one in fitting if not one.lacks(server)), None)
        if usable is not None:
            programs.append(usable)
        else:
            missing.append(_why_not(point, fitting, server))
    return Chosen(tuple(programs), tuple(missing))


def _why_not(point: str, fitting: Sequence[Program], server: TracedServer) -> Note:
    lacking = " / ".join(f"{one.lacks(server)[0]} ({one.way})" for one in fitting)
    found = lacking or Note("trials/trace/known-probe")
    return Note.of("trials/trace/no-probe", point=point, found=found)


def program_text(server: TracedServer, chosen: Chosen, limit_s: float) -> str:
    """Returns one program of bpftrace: the points, a reading each second, and an end in any case
    after `limit_s`."""
    found = "\n".join([*(one.text for one in chosen.programs), *_frame(chosen.points, limit_s)])
    wait_event = f"*(uint32*)uptr(*(uint64*)uptr({server.wait_event_at:#x}))"
    for name, value in {
        "%BINARY%": f"/proc/{server.postmaster}/exe",
        "%OURS%": f"curtask->real_parent->tgid == {server.postmaster}",
        "%WAIT_EVENT%": wait_event,
        "%KIND%": _kind(server),
    }.items():
        found = found.replace(name, value)
    return found + "\n"


def _kind(server: TracedServer) -> str:
    """Returns an expression: which of the server's background processes it is, or 0."""
    found = "0"
    for number, process in enumerate(server.background, start=1):
        found = f"(pid == {process} ? {number} : {found})"
    return found


def _frame(points: Sequence[str], limit_s: float) -> Iterator[str]:
    yield 'BEGIN { printf("begin %llu\\n", nsecs); }'
    prints = [f"print(@{point}); print(@{point}_ns);" for point in points]
    if points:
        prints.append("print(@unmatched);")
    yield (
        'interval:s:1 { printf("tick %llu\\n", nsecs); '
        + " ".join(prints)
        + ' printf("taken\\n"); }'
    )
    yield f"interval:s:{round(limit_s)} {{ exit(); }}"
    # bpftrace prints all maps by itself after this.
    yield 'END { printf("end %llu\\n", nsecs); }'


_LWLOCKS = "lwlocks"


@cache
def _known() -> dict[str, Any]:
    return messages_of(
        tomllib.loads((files(__package__) / "points.toml").read_text("utf-8")),
        ("title", "text", "keys"),
    )


def titles() -> Mapping[str, str]:
    """Returns the title of each point."""
    return {point: about["title"] for point, about in _known()["point"].items()}


def meaning(point: str) -> str:
    """Returns what a duration of a point means."""
    return str(_known()["point"][point]["text"])


def pair_cost_ns(*, stepped: bool) -> float:
    """Returns what one pair of probes takes from the traced process, about."""
    return float(_known()["cost"]["stepped_ns" if stepped else "carried_out_ns"])


def key_name(reading: PointReading, server: TracedServer) -> str:
    """Returns the name of a reading's key; empty for a point that has none."""
    about = _known()["point"][reading.point]
    if about.get("names") == _LWLOCKS:
        return server.lwlock(reading.key)
    return str(about.get("keys", {}).get(reading.key, ""))
