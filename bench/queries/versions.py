"""What an upgrade of a server does to the 22 queries of `analytics`, one by one.

Enters: programs of the older version, the newer version. Leaves: docs/measured/queries-versions.md.
Never: takes a time for the truth about plans: what changed in a plan is read from plans.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench import MEASURED
from bench.incidents.provoke import dsn_of
from bench.machine import load_average, this_machine
from bench.own_load.applications import DEBIAN
from bench.queries.changes import claims, is_changed, lines_of_queries
from bench.queries.decided import write_queries
from bench.queries.runs import Ran, run_set
from bench.server import running_server
from bench.tables import page, table
from pgassay.analysis.compare.model import Verdict
from pgassay.server.connection.session import connect
from pgassay.server.owned.installation import installation_at

OUTPUT = MEASURED / "queries-versions.md"
SETTINGS = {"shared_buffers": "512MB"}
SPEC = """
[target]
dsn = "{dsn}"
[settings.postgres]
jit = "off"
[factors.target]
version = [{old}, {new}]
[workload]
queries = "{queries}"
[design]
min_blocks = 6
max_blocks = {blocks}
seed = 1
"""


def lines(change: str, ran: Ran) -> Iterator[list[str]]:
    """What all verdicts come to, the queries that changed, then the others by their verdict."""
    counts = Counter(one.verdict for one in ran.found.effects)
    plans = sum(map(is_changed, ran.found.effects))
    least = f"{counts[Verdict.BETTER]} better, {counts[Verdict.WORSE]} worse, {plans} other plans"
    yield [f"**{change}**", least, f"{ran.blocks} blocks", f"{ran.seconds:.0f} s"]
    yield from lines_of_queries(ran.found.effects)
    others = [one for one in ran.found.effects if not (is_changed(one) or claims(one))]
    for verdict in sorted({one.verdict for one in others}):
        named = [one.query for one in others if one.verdict is verdict]
        yield [", ".join(named), verdict.value, "", "the same plan"]


def main() -> None:
    """Runs the set on copies of a server in both versions and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=Path, default=DEBIAN, help="of the older version")
    parser.add_argument("--new", type=int, default=18)
    parser.add_argument("--blocks", type=int, default=16, help="at most [16]")
    options = parser.parse_args()
    installation = installation_at(options.programs)
    source = running_server(installation, SETTINGS, "analytics", scale=1)
    with tempfile.TemporaryDirectory() as folder, source as server:
        write_queries(Path(folder))
        with connect(server.parameters) as session:
            session.execute(b"CHECKPOINT")  # or the base backup waits minutes for one
        asked = {"old": installation.major, "new": options.new, "blocks": options.blocks}
        ran = run_set(SPEC.format(dsn=dsn_of(server), queries=folder, **asked))
    rows = lines(f"version {installation.major} → {options.new}", ran)
    body = table(("change or query", "verdict", "change of its time", "how it is known"), rows)
    about = (
        "The 22 queries of `analytics` with the least value of each variable, without JIT, on"
        f" copies of one server ({installation.version}), as it is and upgraded by pg_upgrade. The"
        " older version is Debian’s build, the newer one the embedded server’s: part of a"
        " difference may be the build’s;"
        f" {datetime.now(UTC):%Y-%m-%d}, {this_machine()}, load average {load_average():.1f}."
        " Made by `make validate-real`. In brackets the intervals that hold together with 95 %"
        " certainty. [Upgrades on your own data](../upgrades.md) asks this of your queries."
    )
    OUTPUT.write_text(page("What an upgrade does to 22 queries", about, {"": body}), "utf-8")


if __name__ == "__main__":
    main()
