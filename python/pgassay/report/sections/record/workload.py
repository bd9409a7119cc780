"""What the load ran: the mix asked for and achieved, the scripts, the data.

Enters: the context. Leaves: a table of scenarios, texts without passwords. Never: opens a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgassay.analysis.measures.asked import ArmAsked
from pgassay.language import Message, clauses, ntr, tr
from pgassay.quantities import spaced
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Code, Fold, Paragraph
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Column, Table, numbers, table
from pgassay.report.document.text import joined
from pgassay.report.summaries.headline import load
from pgassay.report.tables.cells import ABSENT
from pgassay.report.workload import workload_words
from pgassay.spec.secrets.redaction import redacted

_MOST_OPEN = 3
"""Scripts that are shown without being asked for."""


@section("record/workload", "What the load ran")
def workload(context: ReportContext) -> Blocks:
    """Nothing where the stored experiment cannot be read."""
    asked = context.facts.asked
    if not asked or not any(one.scripts for one in asked):
        return
    titles = dict.fromkeys(one.title for one in asked if one.title)
    words = clauses((workload_words(context), load(context.plan)))
    yield Paragraph(joined(*(tr("{text}.", text=one) for one in (*titles, words))))
    yield mix_table(context)
    ran = [*scripts(context)]
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
    rows = [
        (
            "all" if alike else labels.get(one.arm, one.arm),
            name,
            *_shares(context, one, name, alike),
        )
        for one in shown
        for name in one.weights
    ]
    columns = (
        Column(Message("Arm"), "text", merges=True, name="arm"),
        Column(Message("Scenario"), "heading"),
        *numbers("Asked for", "Achieved", "Transactions"),
    )
    return table(columns, rows).only_if(arm=not alike)


def _shares(
    context: ReportContext, asked: ArmAsked, scenario: str, of_all_arms: bool
) -> tuple[str, str, str]:
    """The share asked for, that of the transactions, and how many there were."""
    weight = asked.weights[scenario]
    whole = sum(value for value in asked.weights.values() if value > 0)
    constant = ntr("{n} connection of its own", "{n} connections of its own", round(-weight))
    share = f"{spaced(100 * weight / whole, 1)} %" if whole else ABSENT
    if asked.has_pools:
        share = tr("{share} of the connections", share=share)
    wanted = constant if weight < 0 else share
    done = _transactions(context, "" if of_all_arms else asked.arm)
    return wanted, _share(scenario, done), spaced(done.get(scenario, 0), 0)


def _transactions(context: ReportContext, arm: str = "") -> Mapping[str, int]:
    """Scenario → its transactions in all trials, or in those of one arm."""
    counts: dict[str, int] = {}
    for trial in context.analysis.answer.trials:
        if not arm or trial.arm == arm:
            for one in trial.scenarios:
                counts[one.scenario] = counts.get(one.scenario, 0) + one.transactions
    return counts


def _share(scenario: str, done: Mapping[str, int]) -> str:
    total = sum(done.values())
    return f"{spaced(100 * done.get(scenario, 0) / total, 1)} %" if total else ABSENT


def achieved(context: ReportContext) -> list[tuple[str, str]]:
    """(scenario, its share of the transactions of all trials)."""
    done = _transactions(context)
    return [(scenario, _share(scenario, done)) for scenario in done]


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
