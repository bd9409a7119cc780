"""The effect on each server of a fleet.

Enters: the context. Leaves: sentences and a table. Never: computes an estimate.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import ByServer, Dependence
from pgassay.findings.answer.servers import RULE
from pgassay.findings.wording import signed_percent
from pgassay.language import Message, clauses, decimals, tr
from pgassay.report.charts.effects.by_server import by_server_chart
from pgassay.report.context import ReportContext
from pgassay.report.section import Content, section
from pgassay.report.tables.cells import INTERVAL, interval, probability, tone_cell
from pgassay.report.tables.table import Cell, Column, Table, table

_COLUMNS = (
    Column(Message("Level compared"), "group"),
    Column(Message("Server"), "heading"),
    *map(Column, (Message("Blocks"), Message("Change"), INTERVAL)),
)
_TONES = {
    Dependence.DEPENDS: "undecided",
    Dependence.NEGLIGIBLE: "same",
    Dependence.INDEPENDENT: "same",
    Dependence.UNDECIDED: "undecided",
}


@section("answer/by_server", "By server")
def by_server(context: ReportContext) -> Content | None:
    """A run whose blocks ran on several servers."""
    found = context.analysis.by_server
    if not found:
        return None
    texts = context.sentences(RULE)
    verdicts = [tone_cell(one.verdict.value, _TONES[one.verdict]) for one in found]
    return {
        "sentences": list(zip(verdicts, texts, strict=True)),
        "chart": by_server_chart(context.analysis),
        "effects": _effects(found),
        "tests": clauses(text for one in found if (text := _test(one))),
        "intervals": sum(len(one.servers) for one in found),
    }


def _effects(found: tuple[ByServer, ...]) -> Table:
    rows: list[tuple[str | Cell, ...]] = [
        (
            _subject(one),
            effect.server,
            str(effect.blocks),
            signed_percent(effect.effect_pct),
            interval(effect.ci95_pct),
        )
        for one in found
        for effect in one.servers
    ]
    return table(_COLUMNS, rows)


def _subject(one: ByServer) -> str:
    return f"{one.factor} = {one.level}" + ("" if one.step is None else f", {one.load}")


def _test(one: ByServer) -> str:
    """Such as `F(1, 6) = 7.4, p = 0.03 by all ways to deal the blocks to the servers`."""
    if one.test is None:
        return ""
    between, within = one.test.freedom
    how = _WAYS[one.test.by]
    return tr(
        "{subject}: F({between}, {within}) = {f}, p {p} {how}",
        subject=_subject(one),
        between=decimals(between, "g"),
        within=decimals(within, ".3g"),
        f=decimals(one.test.f, ".3g"),
        p=p if (p := probability(one.test.p)).startswith("<") else f"= {p}",
        how=how,
    )


_WAYS = {
    "permutation": Message("by all ways to deal the blocks to the servers"),
    "F": Message("by Fisher’s distribution"),
}
