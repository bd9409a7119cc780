"""What the load ran: the mix asked for and achieved, the scripts, the data.

Enters: the context. Leaves: a table of scenarios, texts without passwords. Never: opens a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgassay.analysis.measures.asked import ArmAsked
from pgassay.language import clauses, ntr, tr
from pgassay.quantities import spaced
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Code, Fold, Paragraph
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Cell, Table, column, view
from pgassay.report.document.text import joined
from pgassay.report.summaries.headline import load
from pgassay.report.tables.cells import ABSENT, valued, whole, written
from pgassay.report.workload import workload_words
from pgassay.spec.secrets.redaction import redacted

_MOST_OPEN = 3
"""Scripts that are shown without being asked for."""


@section("record/workload", "What the load ran")
def workload(context: ReportContext) -> Blocks:
    """Nothing where the stored experiment cannot be read."""
    asked = context.facts.asked
    ran = [*scripts(context)]
    if not ran:
        return
    yield summed_up("report/sections/scripts", n=len(ran))
    titles = dict.fromkeys(one.title for one in asked if one.title)
    words = clauses((workload_words(context), load(context.plan)))
    yield Paragraph(joined(*(tr("{text}.", text=one) for one in (*map(tr, titles), words))))
    yield mix_table(context)
    is_open = len(ran) <= _MOST_OPEN
    for title, script in ran:
        yield Fold(title, [Code(script, "sql")], is_open)
    for one in {one.data_sql: one for one in asked}.values():
        if text := redacted(one.data_sql).strip():
            summary = tr("Schema and data of {title}", title=one.called or one.workload)
            yield Fold(summary, [Code(text, "sql")])


def mix_table(context: ReportContext) -> Table:
    """A row per arm and scenario, or per scenario where the mix is the same in all arms."""
    asked = context.facts.asked
    # With pools, the faster arm of two achieves another mix.
    alike = not any(one.has_pools for one in asked) and all(
        (one.workload, one.weights) == (asked[0].workload, asked[0].weights) for one in asked
    )
    labels = context.labels
    shown = asked[:1] if alike else asked
    rows = (
        {"of": one, "scenario": name, "weight": one.weights[name], "done": done}
        for one in shown
        for done in [_transactions(context, "" if alike else one.arm)]
        for name in one.weights
    )
    columns = (
        written("of.arm", "Arm", lambda arm: labels.get(arm, arm), "text", merges=True),
        written("scenario", "Scenario", str, "heading"),
        column("weight", "Asked for", lambda row: _wanted(row["of"], row["weight"])),
        column("share", "Achieved", lambda row: _percent(_share(row["scenario"], row["done"]))),
        column(
            "done", "Transactions", lambda row: valued(row["done"].get(row["scenario"], 0), whole)
        ),
    )
    return view(columns[1:] if alike else columns, rows)


def _wanted(asked: ArmAsked, weight: float) -> str:
    """The share asked for, or how many connections."""
    whole = sum(value for value in asked.weights.values() if value > 0)
    if weight < 0:
        return ntr("{n} connection of its own", "{n} connections of its own", round(-weight))
    share = f"{spaced(100 * weight / whole, 1)} %" if whole else ABSENT
    return tr("{share} of the connections", share=share) if asked.has_pools else share


def _transactions(context: ReportContext, arm: str = "") -> Mapping[str, int]:
    """Scenario → its transactions in all trials, or in those of one arm."""
    counts: dict[str, int] = {}
    for trial in context.analysis.answer.trials:
        if not arm or trial.arm == arm:
            for one in trial.scenarios:
                counts[one.scenario] = counts.get(one.scenario, 0) + one.transactions
    return counts


def _share(scenario: str, done: Mapping[str, int]) -> float | None:
    total = sum(done.values())
    return 100 * done.get(scenario, 0) / total if total else None


def _percent(share: float | None) -> Cell:
    return valued(share, lambda pct: f"{spaced(pct, 1)} %")


def achieved(context: ReportContext) -> list[tuple[str, str]]:
    """(scenario, its share of the transactions of all trials)."""
    done = _transactions(context)
    return [(scenario, _percent(_share(scenario, done)).text) for scenario in done]


def scripts(context: ReportContext) -> Iterator[tuple[str, str]]:
    """(title, text) of each script once, with the arms that ran it where others ran another."""
    asked = context.facts.asked
    arms: dict[tuple[str, str], list[str]] = {}
    for one in asked:
        for name, script in one.scripts.items():
            arms.setdefault((name, script), []).append(context.labels.get(one.arm, one.arm))
    for (name, script), of in arms.items():
        whose = "" if len(of) == len(asked) else f" ({clauses(of)})"
        yield f"{name}{whose}", redacted(script).strip()
