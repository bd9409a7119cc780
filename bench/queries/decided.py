"""How long do arms that alternate take to decide a set of queries, beside a trial of each arm?

Enters: nothing. Leaves: docs/measured/queries-decided.md. Never: gives the two other queries.

The 22 queries of `analytics`, with the least value of each variable, work_mem 4 MB against 64 MB,
until no query is open that further blocks may decide.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bench import MEASURED
from bench.machine import load_average, this_machine
from bench.queries.runs import Ran, run_set
from bench.tables import page, table
from pgassay.analysis.compare.model import Verdict
from pgassay.spec.stopping import LEAST_BLOCKS
from pgassay.spec.workload.folder import load_workload

OUTPUT = MEASURED / "queries-decided.md"
MODES = {"switchback": "alternating", "blocks": "a trial of each arm"}
SPEC = """
[target]
version = 18
[settings.postgres]
shared_buffers = "512MB"
[workload]
use = "analytics"
queries = "{queries}"
[factors.postgres]
work_mem = ["4MB", "64MB"]
[design]
mode = "{mode}"
min_blocks = {least}
max_blocks = {blocks}
seed = 1
"""
_SET = re.compile(r"^\\set (\w+) (.+)\n", re.MULTILINE)
_DRAWN = re.compile(r"random\((\d+), \d+\)")
_ANOTHER = re.compile(r"\(:(\w+) \+ random\((\d+), \d+\)\) % (\d+) \+ 1")


def write_queries(folder: Path) -> None:
    """Writes the scenarios of `analytics` as plain SQL."""
    for one in load_workload("analytics", folder, file="bench.queries").scenarios:
        known = {"scale": 1}
        for name, drawn in _SET.findall(one.script):
            known[name] = _least(drawn, known)
        text = _SET.sub("", one.script)
        for name, value in known.items():
            text = re.sub(rf"(?<!:):{name}\b", str(value), text)
        (folder / f"{one.name}.sql").write_text(text, "utf-8")


def _least(drawn: str, known: dict[str, int]) -> int:
    if found := _ANOTHER.fullmatch(drawn):
        name, least, places = found.groups()
        return (known[name] + int(least)) % int(places) + 1
    found = _DRAWN.fullmatch(drawn)
    if found is None:
        raise ValueError(f"no value for {drawn}")
    return int(found[1])


def run(mode: str, blocks: int) -> Ran:
    """One run to its end."""
    with tempfile.TemporaryDirectory() as folder:
        write_queries(Path(folder))
        least = min(blocks, LEAST_BLOCKS)
        return run_set(SPEC.format(queries=folder, mode=mode, least=least, blocks=blocks))


def main() -> None:
    """Runs both and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=48, help="at most [48]")
    options = parser.parse_args()
    found = {mode: run(mode, options.blocks) for mode in MODES}
    body = table(
        ("arms", "blocks", "decided of 22", "minutes of trials"),
        (
            [
                MODES[mode],
                str(ran.blocks),
                str(sum(one.verdict is not Verdict.UNDECIDED for one in ran.found.effects)),
                f"{ran.seconds / 60:.1f}",
            ]
            for mode, ran in found.items()
        ),
    )
    about = (
        "The 22 queries of `analytics`, work_mem 4 MB against 64 MB, on a fresh embedded PostgreSQL"
        f" 18, until no query is open that further blocks may decide; at most {options.blocks}"
        f" blocks. {datetime.now(UTC):%Y-%m-%d}, {this_machine()}, load average"
        f" {load_average():.1f}. Made by `make validate-real`."
    )
    OUTPUT.write_text(page("Queries decided in turn and in blocks", about, {"": body}), "utf-8")


if __name__ == "__main__":
    main()
