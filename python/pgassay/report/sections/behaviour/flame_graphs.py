"""Where CPU time goes by function, and what differs between arms.

Enters: the context. Leaves: sentences, tables, drawings. Never: computes an estimate, or runs a
script that a drawing brings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pgassay.analysis.profiles.model import ArmProfile, FunctionDifference, ProfileDifference
from pgassay.findings.wording import plain_number, spaced
from pgassay.language import Message, colon, decimals, listed, retold, tr
from pgassay.report.context import FlameGraph, ReportContext
from pgassay.report.document.section import Content, section
from pgassay.report.document.table import Column, Table, table
from pgassay.report.tables.cells import ABSENT
from pgassay.trials.profile.model import COST

_SHOWN = 12
_WHAT = {"cpu": Message("CPU time"), "off-cpu": Message("time that sessions wait")}


@dataclass(frozen=True)
class Drawn:
    """A drawing under its title."""

    title: str
    graph: FlameGraph
    functions: Table | None
    """Of an arm's own."""
    opens: bool


@section("behaviour/flame_graphs", "By function: CPU time per transaction")
def flame_graphs(context: ReportContext) -> Content | None:
    """A run with profiles, or one that should have had them."""
    profiles = context.analysis.profiles
    if profiles is None:
        return None
    names = context.labels
    return {
        "notes": (*map(retold, profiles.notes), *_notes(profiles.arms, names)),
        "arms_profiled": _arms(profiles.arms, names),
        "cost": tr("Beside what perf itself used, {cost}.", cost=COST),
        "differences": [
            (
                _title(one, names),
                _functions(one, one.total, names),
                _functions(one, one.own, names),
            )
            for one in profiles.differences
        ],
        "drawings": list(_drawn(context, profiles.arms)),
    }


def _notes(arms: Sequence[ArmProfile], names: Mapping[str, str]) -> Iterator[str]:
    """A note that all arms share is said once."""
    said = dict.fromkeys(note for arm in arms for note in arm.notes)
    for note in said:
        of = dict.fromkeys(names[arm.arm] for arm in arms if note in arm.notes)
        shared = len(of) == len({arm.arm for arm in arms})
        yield retold(note) if shared else f"{listed(of)}{colon()}{retold(note)}"


def _arms(arms: Sequence[ArmProfile], names: Mapping[str, str]) -> Table:
    columns = (
        Column(Message("Arm"), "heading"),
        Column(Message("Profile"), "text"),
        Column(Message("Samples")),
        Column(Message("Time per transaction, µs")),
        Column(Message("tps while profiled")),
        Column(Message("tps in the trials")),
        Column(Message("perf itself, CPUs")),
    )
    rows = [
        (
            names[one.arm],
            _WHAT[one.kind],
            spaced(one.samples, 0),
            plain_number(one.us_per_tx),
            spaced(one.tps, 0),
            ABSENT if one.measured_tps is None else spaced(one.measured_tps, 0),
            decimals(one.perf_cpu_share, ".2f"),
        )
        for one in arms
    ]
    return table(columns, rows)


def _title(one: ProfileDifference, names: Mapping[str, str]) -> str:
    return tr(
        "{arm} beside {baseline}: {what}",
        arm=names[one.arm],
        baseline=names[one.baseline],
        what=_WHAT[one.kind],
    )


def _functions(
    one: ProfileDifference, functions: Sequence[FunctionDifference], names: Mapping[str, str]
) -> Table:
    columns = (
        Column(Message("Function"), "heading"),
        Column(names[one.baseline]),
        Column(names[one.arm]),
        Column(Message("Difference, µs per transaction")),
        Column(Message("Sampling error")),
    )
    rows = [
        (
            of.name,
            decimals(of.baseline_us_per_tx, ".2f"),
            decimals(of.arm_us_per_tx, ".2f"),
            decimals(of.difference_us_per_tx, "+.2f"),
            f"± {decimals(of.sampling_error_us_per_tx, '.2f')}"
            if of.sampling_error_us_per_tx
            else ABSENT,
        )
        for of in functions[:_SHOWN]
    ]
    return table(columns, rows)


def _largest(arm: ArmProfile) -> Table:
    columns = (
        Column(Message("Function"), "heading"),
        Column(Message("Itself, µs per transaction")),
        Column(Message("With what it calls")),
    )
    rows = [
        (of.name, decimals(of.self_us_per_tx, ".2f"), decimals(of.total_us_per_tx, ".2f"))
        for of in arm.functions[:_SHOWN]
    ]
    return table(columns, rows)


def _drawn(context: ReportContext, arms: Sequence[ArmProfile]) -> Iterator[Drawn]:
    names = context.labels
    largest = {(one.arm, one.kind): _largest(one) for one in arms}
    for at, graph in enumerate(context.flame_graphs):
        of = names[graph.arm]
        if graph.baseline:
            of = tr("{arm} beside {baseline}", arm=of, baseline=names[graph.baseline])
        functions = None if graph.baseline else largest.get((graph.arm, graph.kind))
        title = tr("{arm}: {what} per transaction", arm=of, what=_WHAT[graph.kind])
        yield Drawn(title, graph, functions, opens=at == 0)
