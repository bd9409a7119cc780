"""How true a drawn load is: `python -m bench.own_load.fidelity OUT`.

Enters: a folder, programs of PostgreSQL, how long. Leaves: there for each application the workload
as drawn from the statistics, and from the log, a run of each on a copy of the server, and
fidelity.md, which has both beside the source. Never: shows the workload the code of the clients.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psycopg.conninfo import make_conninfo

from bench.incidents.provoke import dsn_of
from bench.machine import this_machine
from bench.own_load.applications import (
    DEBIAN,
    PREFIX,
    ROLE,
    application,
    clients,
    logged,
    pgassay,
)
from bench.tables import page, table
from pgassay.draw.check.comparing import compared as of_the_source
from pgassay.draw.check.finding import FoundDrawing
from pgassay.draw.check.model import CheckedStatement
from pgassay.draw.check.reading import read_run
from pgassay.draw.statements.parsing import fingerprint
from pgassay.draw.stored import DRAWING, DrawingFile
from pgassay.draw.writing.fidelity import FIDELITY, code
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.storage.json_files import stored_file

APPLICATIONS = {
    "pgbench": "pgbench, accounts by random_zipfian with 1.1, prepared statements",
    "orders": "a Python client on the tables of `orders`, psycopg",
    "airline": "a Python client on the tables of `airline`, psycopg",
    "shop": "a web shop's Python client, psycopg; uuid, jsonb, arrays, partitions, triggers",
}
SOURCES = ("log", "statistics")
_POINTS, _BLOCKS, _LEAST_BLOCKS = 2.0, 0.10, 0.5
_WIDE = {"log": 1.0, "statistics": 2.0}
"""Statistics do not know how often each value was asked for."""
_MOST_CHARACTERS = 90


@dataclass(frozen=True)
class Compared:
    """One statement of the source's statistics beside a run."""

    text: str
    matters: bool
    """Whether it is among those that take 90 % of the source's time."""
    points: float
    """Between the shares of calls."""
    blocks: tuple[float, float | None]
    """Per call, of the source and of the run; None where the run never called it."""
    same_plan: bool | None
    """None where a server gives no plan without values."""
    named: bool
    """Whether FIDELITY.md says in advance that it will differ."""

    @property
    def blocks_change(self) -> float:
        """Of the source's blocks; 0 where less than half a block is between both."""
        source, run = self.blocks
        if run is None:
            return -1.0
        return 0.0 if abs(run - source) <= _LEAST_BLOCKS else run / max(source, _LEAST_BLOCKS) - 1.0

    def differs(self, wide: float) -> bool:
        """Whether calls, blocks or plan differ by more than the limits, `wide` times."""
        return (
            self.points > wide * _POINTS
            or abs(self.blocks_change) > wide * _BLOCKS
            or self.same_plan is False
        )


def short(folder: Path, name: str, step_s: float) -> Path:
    """An experiment of a drawn folder, in two blocks, beside its source."""
    text = (folder / name).read_text("utf-8")
    for before, after in (
        ('step = "60s"', f'step = "{step_s:g}s"\nwarmup = "5s"'),
        ("[design]", "[design]\nmin_blocks = 2\nmax_blocks = 2"),
        (
            '# accept = ["sessions", "commits"]',
            'accept = ["sessions", "commits"]\nbackup_checkpoint = "fast"',
        ),
    ):
        if before not in text:
            raise SystemExit(f"{name} has no {before}")
        text = text.replace(before, after)
    path = folder / f"short-{name}"
    path.write_text(text)
    return path


def compared(folder: Path, statistics: Path, step_s: float) -> list[Compared]:
    """Runs a drawn workload on copies, and compares it with the source's statistics: a statement
    that the drawing lost is called nowhere in the run."""
    run = folder.with_name(f"{folder.name}-run")
    pgassay("run", short(folder, "experiment.toml", step_s), "--out", run, "--plain")
    checked = json.loads(pgassay("draw", "--check", run, "--plans", "--format", "json"))
    own = {one["fingerprint"]: one for one in checked["statements"]}
    source = FoundDrawing(statistics, stored_file(statistics / DRAWING, DrawingFile))
    figures = read_run(RunDirectory.open(run))
    found = of_the_source(source, figures, str(run), fingerprint).statements
    named = section(folder / FIDELITY, "## What is expected to differ")
    return [statement(one, own.get(one.fingerprint, {}), named) for one in found]


def statement(one: CheckedStatement, own: Mapping[str, Any], expected: str) -> Compared:
    """One statement beside the source; `own`: as `draw --check` has it, `expected`: the part of
    FIDELITY.md that names some."""
    text = " ".join(one.text.split())
    plan = own.get("plan") or {"source": None}
    known = [] if None in plan.values() else [plan["source"] == plan["run"]]
    return Compared(
        text,
        matters=one.matters,
        points=100.0 * abs((one.calls_share.run or 0.0) - (one.calls_share.source or 0.0)),
        blocks=(one.blocks.source or 0.0, one.blocks.run),
        same_plan=known[0] if known else None,
        named=f"| {code(own.get('text', text))} |" in expected,
    )


def section(path: Path, heading: str) -> str:
    """The part of a page below a heading."""
    return path.read_text("utf-8").partition(heading)[2].partition("\n## ")[0]


def drawn(out: Path, name: str, asked: argparse.Namespace) -> dict[str, list[Compared]]:
    """Draws an application's load from both sources, and runs each."""
    folder = out / name
    folder.mkdir(parents=True)
    with application(name, None if asked.embedded else asked.programs) as server:
        dsn = dsn_of(server)
        log = folder / "server.log"
        own = make_conninfo(dsn, user=ROLE)
        load = clients(own, asked.seconds + 60, asked.clients, asked.pause, name=name)
        # A server that has had its load for a while: rows have moved to pages with room.
        with clients(own, asked.before, asked.clients, 0.0, name=name) as earlier:
            earlier.wait()
        with logged(server, log), load:
            pgassay("draw", dsn, "--for", f"{asked.seconds:g}s", "--out", folder / "statistics")
        words = ("--prefix", PREFIX, "--user", ROLE)
        pgassay("draw", dsn, "--log", log, *words, "--out", folder / "log")
        return {
            source: compared(folder / source, folder / "statistics", asked.step)
            for source in SOURCES
        }


def summary(found: Mapping[str, Mapping[str, Sequence[Compared]]]) -> Iterator[tuple[str, ...]]:
    """A line for each application and source."""
    for name, by_source in found.items():
        for source, statements in by_source.items():
            mine = [one for one in statements if one.matters]
            beyond = [one for one in mine if one.differs(_WIDE[source])]
            plans = [one.same_plan for one in statements if one.same_plan is not None]
            yield (
                name,
                source,
                f"{len(statements)}, {len(mine)}",
                f"{max(one.points for one in statements):.1f}",
                f"{100 * max(abs(one.blocks_change) for one in mine):.0f} %",
                str(len(beyond)),
                str(sum(one.named for one in beyond)),
                f"{sum(plans)} of {len(plans)}",
            )


def beyond_limits(
    found: Mapping[str, Mapping[str, Sequence[Compared]]],
) -> Iterator[tuple[str, ...]]:
    """A line for each statement that differs by more than the limits."""
    for name, by_source in found.items():
        for source, statements in by_source.items():
            for one in statements:
                if one.differs(_WIDE[source]):
                    text = one.text.replace("|", "\\|")
                    shown = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
                    yield (
                        name,
                        source,
                        f"`{shown}`",
                        "yes" if one.matters else "no",
                        f"{one.points:.1f}",
                        " → ".join("none" if n is None else f"{n:.1f}" for n in one.blocks),
                        {None: "–", True: "yes", False: "no"}[one.same_plan],
                        "yes" if one.named else "no",
                    )


def main() -> None:
    """As the command line asks."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("out", type=Path)
    words.add_argument("--programs", type=Path, default=DEBIAN)
    words.add_argument("--embedded", action="store_true", help="PostgreSQL 18, not the programs")
    words.add_argument("--only", choices=tuple(APPLICATIONS), help="one application")
    words.add_argument("--seconds", type=float, default=120.0)
    words.add_argument("--before", type=float, default=45.0, help="of load without pauses (s)")
    words.add_argument("--step", type=float, default=30.0)
    words.add_argument("--clients", type=int, default=4)
    words.add_argument("--pause", type=float, default=0.05, help="of a client between pages (s)")
    asked = words.parse_args()
    names = [asked.only] if asked.only else list(APPLICATIONS)
    found = {name: drawn(asked.out, name, asked) for name in names}
    version = "18" if asked.embedded else "15"
    about = (
        f"Loads that were drawn from PostgreSQL {version} while {asked.clients} clients worked for"
        f" {asked.seconds:g} s, after {asked.before:g} s without pauses, and run on base-backup"
        f" copies of it, two blocks of trials of {asked.step:g} s: calls, blocks and plans of each"
        " statement beside those of the source."
        " Of calls the share is compared (limit 2 percentage points), of blocks those per call,"
        " found or read (limit 10 %, and half a block); for a workload from statistics the limits"
        " are twice as wide. *Matters* is what takes 90 % of the source's time."
        f" {datetime.now(UTC):%Y-%m-%d}, {this_machine()}. Made by"
        " `python -m bench.own_load.fidelity`."
    )
    head = ["load", "drawn from", "statements, that matter", "calls, largest difference (points)"]
    head += ["blocks of those that matter, largest", "of these beyond the limits"]
    head += ["named in FIDELITY.md", "same plan"]
    more = ["load", "drawn from", "statement", "matters", "calls (points)", "blocks per call"]
    more += ["same plan", "named in FIDELITY.md"]
    sections = {
        "": table(head, summary(found)),
        "Statements beyond the limits": table(more, beyond_limits(found)),
        "The loads": [f"- **{name}**: {APPLICATIONS[name]}" for name in names],
    }
    title = "How true drawn loads are"
    (asked.out / "fidelity.md").write_text(page(title, about, sections), "utf-8")


if __name__ == "__main__":
    main()
