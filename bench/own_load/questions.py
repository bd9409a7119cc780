"""The same questions with a load and with its drawing: `python -m bench.own_load.questions OUT`.

Enters: a folder, how many blocks, how long a trial. Leaves: there the drawn workload, a run with
the clients themselves and one with the workload, and questions.md, which has both answers beside
each other. Never: asks the server that was drawn from; all trials are on copies.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.incidents.provoke import dsn_of
from bench.machine import this_machine
from bench.own_load.applications import (
    CLIENT,
    DEBIAN,
    HERE,
    PREFIX,
    application,
    clients,
    logged,
    pgassay,
)
from bench.tables import page, table
from pgassay.spec.reading.tables import toml_key, toml_literal

PAUSE_S = 0.015
"""Of a client between pages: a trial has so many that chance in which they are matters little."""
CLIENTS = 4
WARMUP_S = 3.0
METRIC = "latency_mean"
"""That of the verdicts, as questions.toml says."""


@dataclass(frozen=True)
class Answer:
    """One verdict; effects in per cent."""

    verdict: str
    effect: float
    low: float
    high: float

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Answer:
        """Reads an entry of `comparisons` of analysis.json."""
        low, high = found["ci95_pct"] or (float("-inf"), float("inf"))
        return cls(found["verdict"], found["effect_pct"], low, high)

    @property
    def cells(self) -> tuple[str, str]:
        """The verdict, and the change with its interval."""
        return self.verdict, f"{self.effect:+.1f} % ({self.low:+.1f} to {self.high:+.1f})"

    def overlaps(self, other: Answer) -> bool:
        """Whether the intervals have a value in common."""
        return self.low <= other.high and other.low <= self.high


def client_load(step_s: float) -> dict[str, Any]:
    """`[load]` with the clients as the program."""
    program = [*CLIENT, "", "--clients", str(CLIENTS)]
    program += ["--seconds", "$PGASSAY_DURATION", "--pause", str(PAUSE_S)]
    program += ["--seed", "$PGASSAY_SEED"]
    return {
        "clients": CLIENTS,
        "step": f"{step_s:g}s",
        "warmup_command": program,
        "command": [*program, "--log", "$PGASSAY_OUTPUT/pages"],
        "latency": {"pgbench_log": "pages"},
    }


def drawn_load(folder: Path, step_s: float) -> dict[str, Any]:
    """`[load]` as it was drawn."""
    written = tomllib.loads((folder / "experiment.toml").read_text("utf-8"))["load"]
    return {**written, "step": f"{step_s:g}s"}


def ask(out: Path, name: str, dsn: str, load: Mapping[str, Any], blocks: int) -> dict[str, Answer]:
    """Runs the four questions with a load; returns the answer to each by its factor."""
    file, run = out / f"{name}.toml", out / f"{name}-run"
    text = (HERE / "questions.toml").read_text("utf-8")
    for at, keys in (
        ("[target]\n", {"dsn": dsn}),
        ("[design]\n", {"min_blocks": blocks, "max_blocks": blocks}),
    ):
        text = text.replace(at, at + written(keys))
    text += "\n[workload]\n" + written({"use": str(out / "drawn")})
    text += "\n[load]\n" + written({**load, "warmup": f"{WARMUP_S:g}s"})
    file.write_text(text, "utf-8")
    pgassay("run", file, "--out", run, "--plain")
    analysis = json.loads((run / "analysis.json").read_text("utf-8"))
    asked = (one for one in analysis["comparisons"] if one["metric"] == METRIC)
    return {one["factor"]: Answer.of(one) for one in asked if one["step"] is None}


def written(keys: Mapping[str, Any]) -> str:
    """Keys of a table as TOML."""
    return "".join(f"{toml_key(key)} = {toml_literal(value)}\n" for key, value in keys.items())


def rows(own: Mapping[str, Answer], drawn: Mapping[str, Answer]) -> Iterator[tuple[str, ...]]:
    """A line for each question."""
    for factor, one in own.items():
        other = drawn[factor]
        same = "yes" if one.verdict == other.verdict else "**no**"
        if one.verdict == other.verdict == "undecided":
            same = "both undecided"
        overlap = "yes" if one.overlaps(other) else "**no**"
        yield factor, *one.cells, *other.cells, same, overlap


def main() -> None:
    """As the command line asks."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("out", type=Path)
    words.add_argument("--programs", type=Path, default=DEBIAN)
    words.add_argument("--seconds", type=float, default=90.0, help="of the log [120]")
    words.add_argument("--blocks", type=int, default=8)
    words.add_argument("--step", type=float, default=10.0)
    words.add_argument("--quick", action="store_true", help="a few minutes, to try the bench")
    asked = words.parse_args()
    if asked.quick:
        asked.seconds, asked.blocks, asked.step = 15.0, 3, 4.0
    out: Path = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with application("shop", asked.programs) as server:
        dsn = dsn_of(server)
        log = out / "server.log"
        with logged(server, log), clients(dsn, asked.seconds + 60, CLIENTS, PAUSE_S):
            time.sleep(asked.seconds)
        pgassay("draw", dsn, "--log", log, "--prefix", PREFIX, "--out", out / "drawn")
        own = ask(out, "clients", dsn, client_load(asked.step), asked.blocks)
        drawn = ask(out, "workload", dsn, drawn_load(out / "drawn", asked.step), asked.blocks)
        about = (
            "Mean latency of a web shop's load when one thing of its server changes, on copies of"
            " the server: with the clients themselves (Python, psycopg; their latency includes"
            " their own time), and with the workload that"
            f" `pgassay draw --log` made of {asked.seconds:g} s of their log. {asked.blocks} blocks"
            f" of trials of {asked.step:g} s; PostgreSQL {server.version}."
            f" {datetime.now(UTC):%Y-%m-%d}, {this_machine()}. Made by"
            " `python -m bench.own_load.questions`."
        )
    head = ["changed", "clients: verdict", "change", "drawn: verdict", "change"]
    head += ["same verdict", "intervals overlap"]
    lines = table(head, rows(own, drawn))
    title = "The same questions with a load and with what was drawn of it"
    (out / "questions.md").write_text(page(title, about, {"": lines}), "utf-8")


if __name__ == "__main__":
    main()
