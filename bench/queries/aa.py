"""Sets of queries that nothing changes: how many have a false claim?

Enters: how many sets of each kind, or with --stored the figures so far. Leaves:
bench/data/real-queries.csv, to which each set is added, and
docs/measured/validation-real-queries.md. Never: runs a set again that the file has.

Each set is a separate run on a fresh server. Its arms differ in a setting that plans of few
tables do not ask for, or in an index that no query can use.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from bench import DATA, MEASURED
from bench.machine import this_machine
from bench.queries.runs import QUERIES, Ran, excludes_zero, run_set
from bench.tables import Aim, page, rate, table
from pgassay.analysis.compare.model import SAME, Verdict

FIGURES = DATA / "real-queries.csv"
OUTPUT = MEASURED / "validation-real-queries.md"
SETTING = "[factors.postgres]\ngeqo_threshold = [12, 13]\n"
INDEX = """
[factors.schema]
unused = ["", "CREATE INDEX ON purchase_line (number) WHERE number < 0"]
"""
BLOCKS = 6
DESIGN = """
[reset]
level = "{reset}"
[design]
mode = "{mode}"
min_blocks = {blocks}
max_blocks = {blocks}
seed = {seed}
"""
_AIM = Aim(0.0, 5.0)


@dataclass(frozen=True)
class Kind:
    """A kind of sets in which no query changes."""

    words: str
    load: str
    factor: str
    mode: str
    reset: str = "none"

    def experiment(self, seed: int) -> str:
        """The text of one set."""
        design = DESIGN.format(reset=self.reset, mode=self.mode, blocks=BLOCKS, seed=seed)
        return QUERIES + self.load + self.factor + design


TWICE = "[load]\nrepeats = 2\n"
KINDS = {
    "switchback": Kind("a setting, alternating, 2 executions", TWICE, SETTING, "switchback"),
    "blocks": Kind("a setting, a trial of each arm, 2 executions", TWICE, SETTING, "blocks"),
    "setting": Kind("a setting, alternating", "", SETTING, "switchback"),
    "setting-blocks": Kind("a setting, a trial of each arm", "", SETTING, "blocks"),
    "index": Kind("an index, alternating", "", INDEX, "switchback", "snapshot"),
    "index-blocks": Kind("an index, a trial of each arm", "", INDEX, "blocks", "snapshot"),
}
"""Without `repeats` as many executions as a first trial chooses."""


@dataclass(frozen=True)
class Row:
    """One set."""

    kind: str
    seed: int
    queries: int
    claims: int
    """Queries that are called better or worse."""
    missed: int
    """Queries whose interval excludes no change."""
    equivalent: int
    seconds: float
    load: float


def row_of(kind: str, seed: int, ran: Ran) -> Row:
    """What one set said, in numbers."""
    effects = ran.found.effects
    return Row(
        kind,
        seed,
        len(effects),
        sum(one.verdict in (Verdict.BETTER, Verdict.WORSE) for one in effects),
        sum(map(excludes_zero, effects)),
        sum(one.verdict in SAME for one in effects),
        round(ran.seconds, 1),
        round(ran.load, 1),
    )


def stored(path: Path) -> list[Row]:
    """The sets that the file has; none where there is no file."""
    if not path.exists():
        return []
    kinds = {
        one.name: {"str": str, "int": int, "float": float}[str(one.type)] for one in fields(Row)
    }
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(**{name: kinds[name](value) for name, value in row.items()})
            for row in csv.DictReader(file)
        ]


def add(row: Row, path: Path) -> None:
    """Adds a set to the file."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(row)), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(asdict(row))


def write_page(rows: Sequence[Row], path: Path) -> None:
    """docs/measured/validation-real-queries.md."""
    loads = [one.load for one in rows]
    about = (
        f"{len(rows)} sets of the 60 short queries in bench/queries/orders, each a run of"
        f" {BLOCKS} blocks on a fresh embedded PostgreSQL 18 with the tables of `orders`; the arms"
        " differ in `geqo_threshold` 12 and 13, which no plan of theirs asks for, or in an index"
        " on `number < 0`, which no query can use, so that every claim is false. Executions are"
        " as many as a first trial chooses, where nothing else is said."
        f" {this_machine()}; load average of a minute {min(loads):g} to {max(loads):g}, from the"
        " server and other programs. Made by `make validate-real`; the figures are in"
        " bench/data/real-queries.csv.\n\n"
        "At most 5 % of sets may have any claim. In brackets the 95 % interval of the share."
        " [How a set is judged](../methods/queries.md)."
    )
    body = table(
        ("arms", "sets", "sets with a false claim", "an interval misses", "equivalent"),
        (
            _cells(kind.words, found)
            for name, kind in KINDS.items()
            if (found := [one for one in rows if one.kind == name])
        ),
    )
    path.write_text(
        page("Validation: sets of queries on a real server", about, {"": body}), "utf-8"
    )


def _cells(words: str, rows: Sequence[Row]) -> list[str]:
    sets, queries = len(rows), sum(one.queries for one in rows)
    return [
        words,
        str(sets),
        rate(sum(one.claims > 0 for one in rows), sets, _AIM),
        rate(sum(one.missed > 0 for one in rows), sets, _AIM),
        f"{100 * sum(one.equivalent for one in rows) / queries:.0f} %" if queries else "–",
    ]


def main() -> None:
    """Runs the sets that the file lacks, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20, help="of each kind [20]")
    parser.add_argument("--stored", action="store_true", help="no run: the figures so far")
    options = parser.parse_args()
    known = {(one.kind, one.seed) for one in stored(FIGURES)}
    wanted = [(kind, seed) for seed in range(1, options.sets + 1) for kind in KINDS]
    for kind, seed in () if options.stored else wanted:
        if (kind, seed) not in known:
            row = row_of(kind, seed, run_set(KINDS[kind].experiment(seed)))
            add(row, FIGURES)
            print(row, flush=True)
    write_page(stored(FIGURES), OUTPUT)


if __name__ == "__main__":
    main()
