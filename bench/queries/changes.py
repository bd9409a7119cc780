"""Changes whose effect plans and blocks show: which verdicts agree with it?

Enters: names of changes; all without any. Leaves: docs/measured/queries-changed.md. Never: takes a
time for the truth: a query has changed where most trials had another plan or text.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from bench import MEASURED
from bench.machine import load_average, this_machine
from bench.queries.runs import QUERIES, Ran, run_set
from bench.tables import page, table
from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.queries.model import QueryEffect

OUTPUT = MEASURED / "queries-changed.md"
REWRITTEN = "district-labels"
CHANGES = {
    "an index on purchase_line (product_id)": """
[factors.schema]
by_product = ["", "CREATE INDEX ON purchase_line (product_id)"]
""",
    "random_page_cost 4 → 1.1": "[factors.postgres]\nrandom_page_cost = [4.0, 1.1]\n",
    "jit on → off, jit_above_cost 1000": """
[factors.postgres]
jit = ["on", "off"]
""",
    f"{REWRITTEN} by GROUP BY": f"""
[factors.scenarios]
{REWRITTEN} = ["", "rewritten/{REWRITTEN}.sql"]
""",
}
COSTS = '[settings.postgres]\nshared_buffers = "512MB"'
WITH_JIT = "/usr/lib/postgresql/15/bin"
"""Debian's programs: those of the embedded server have no JIT."""
DESIGN = "[design]\nmin_blocks = 6\nmax_blocks = {blocks}\nseed = 1\n"


def text_of(change: str, blocks: int) -> str:
    """The experiment of one change."""
    tables = QUERIES
    if "jit" in change:
        tables = tables.replace("version = 18", f'bin = "{WITH_JIT}"')
        tables = tables.replace(COSTS, f"{COSTS}\njit_above_cost = 1000")
    return tables + CHANGES[change] + DESIGN.format(blocks=blocks)


def is_changed(effect: QueryEffect) -> bool:
    """Whether its plan or what the server did by it is another, or its text is."""
    has_changed = bool(effect.plan_differs) or effect.plan_change is not None
    return has_changed or effect.query == REWRITTEN == effect.factor


def claims(effect: QueryEffect) -> bool:
    """Whether it is called better or worse."""
    return effect.verdict in (Verdict.BETTER, Verdict.WORSE)


def lines_of(change: str, ran: Ran) -> Iterator[list[str]]:
    """A row for what all claims come to, and one for each query that changed or is said to."""
    effects = ran.found.effects
    changed = [one for one in effects if is_changed(one)]
    found, beside = sum(map(claims, changed)), sum(map(claims, effects)) - sum(map(claims, changed))
    least = f"{found} of {len(changed)} changed called, {beside} of the others"
    yield [f"**{change}**", least, f"{ran.blocks} blocks", f"{ran.seconds:.0f} s"]
    yield from lines_of_queries(effects)


def lines_of_queries(effects: Sequence[QueryEffect]) -> Iterator[list[str]]:
    """A row for each query that changed or is said to."""
    for one in effects:
        if is_changed(one) or claims(one):
            yield [one.query, one.verdict.value, _change(one), _why(one)]


def _change(effect: QueryEffect) -> str:
    if effect.change_pct is None or effect.ci95_pct is None:
        return "–"
    low, high = effect.ci95_pct
    return f"{effect.change_pct:+.0f} % ({low:+.0f} to {high:+.0f})".replace("-", "\u2212")


def _why(effect: QueryEffect) -> str:
    if effect.plan_differs:
        return "another plan"
    if is_changed(effect):
        return "another text"
    planning = effect.cost_changes.get("planning_ms")
    if planning is None:
        return "the same plan"
    return f"the same plan, made in {planning.baseline:.2f} and {planning.level:.2f} ms"


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the changes and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="changes whose name has this in it")
    parser.add_argument("--blocks", type=int, default=24, help="at most [24]")
    options = parser.parse_args(arguments)
    names = [one for one in CHANGES if not options.only or options.only in one]
    rows = (row for name in names for row in lines_of(name, run_set(text_of(name, options.blocks))))
    body = table(("change or query", "verdict", "change of its time", "how it is known"), rows)
    about = (
        "60 short queries (bench/queries/orders) on the tables of `orders`, on a fresh server,"
        f" PostgreSQL 18 (15 for JIT); {datetime.now(UTC):%Y-%m-%d}, {this_machine()}, load average"
        f" {load_average():.1f}. Made by `make validate-real`. A query has changed where its plan"
        " or its text is another; that such a change takes a tenth of its time or more is not"
        " said by that. A query can also change without another plan, as an index makes the"
        " planning of a join longer ([the price of an index](../queries.md#the-price-of-an-index))."
        " In brackets the intervals that hold together with 95 % certainty."
    )
    OUTPUT.write_text(page("Queries that a change makes faster", about, {"": body}), "utf-8")


if __name__ == "__main__":
    main()
