"""Where CPU time goes by function, and what differs between arms.

Enters: the context. Leaves: sentences, tables, drawings. Never: computes an estimate, or runs a
script that a drawing brings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from pgassay.analysis.profiles.model import ArmProfile, FunctionDifference, ProfileDifference
from pgassay.language import Message, colon, decimals, listed, tr
from pgassay.quantities import plain_number, rate, spaced
from pgassay.report.context import FlameGraph, ReportContext
from pgassay.report.document.blocks import Block, Fold, Frame, Heading, PageOnly, note, observed
from pgassay.report.document.section import Blocks, differing, section
from pgassay.report.document.table import Column, Table, table
from pgassay.report.document.text import Span, texts_of
from pgassay.report.tables.cells import ABSENT
from pgassay.trials.profile.model import COST

sentence = texts_of(__name__)

_SHOWN = 12
_WHAT = {"cpu": Message("CPU time"), "off-cpu": Message("time that sessions wait")}


@section("behaviour/flame_graphs", "By function: CPU time per transaction")
def flame_graphs(context: ReportContext) -> Blocks:
    """Shows each arm's profile, or why there is none; yields nothing where none was asked for."""
    profiles = context.analysis.explanation.profiles
    if profiles is None:
        return
    names = context.labels
    differ = sum(len(one.total) for one in profiles.differences)
    yield differing(
        "report/sections/profiles", len(profiles.arms), differ if profiles.differences else None
    )
    yield from observed((*map(str, profiles.notes), *_notes(profiles.arms, names)))
    if not profiles.arms:
        return
    yield note(sentence("each_arm_ran_once"))
    yield _arms(profiles.arms, names)
    yield note(tr("Beside what perf itself used, {cost}.", cost=COST))
    for one in profiles.differences:
        yield from _difference(one, names)
    if profiles.differences:
        yield note(sentence("time_in_a_function"))
    largest = {(one.arm, one.kind): _largest(one) for one in profiles.arms}
    for at, graph in enumerate(context.flame_graphs):
        functions = None if graph.baseline else largest.get((graph.arm, graph.kind))
        yield _drawing(graph, names, functions, is_open=at == 0)


def _difference(one: ProfileDifference, names: Mapping[str, str]) -> Iterator[Block]:
    yield Heading(
        tr(
            "{arm} beside {baseline}: {what}",
            arm=names[one.arm],
            baseline=names[one.baseline],
            what=_WHAT[one.kind],
        )
    )
    if one.total:
        yield _functions(one, one.total, names)
    else:
        yield note(tr("No function differs by more than sampling alone may make it."))
    if one.own:
        summary = tr("The same without the functions that they call")
        yield Fold(summary, [_functions(one, one.own, names)])


def _drawing(
    graph: FlameGraph, names: Mapping[str, str], functions: Table | None, *, is_open: bool
) -> Fold:
    """Folds a flame graph, where its file lies, and the functions that take most of the time."""
    of = names[graph.arm]
    if graph.baseline:
        of = tr("{arm} beside {baseline}", arm=of, baseline=names[graph.baseline])
    title = tr("{arm}: {what} per transaction", arm=of, what=_WHAT[graph.kind])
    how_to_read = note(
        graph.baseline and sentence("red_the_function_itself", value=names[graph.baseline]),
        tr("Below a function stands what it calls; its width is time."),
        tr("To zoom and search, open the file:"),
        (Span(graph.file, link=quote(graph.file)),),
    )
    frame = Frame(graph.svg, title, graph.height) if graph.svg else None
    own = PageOnly([functions]) if functions else None
    return Fold(title, [frame, how_to_read, own], is_open, in_text=True)


def _notes(arms: Sequence[ArmProfile], names: Mapping[str, str]) -> Iterator[str]:
    """Yields the notes of profiles; one that all arms share comes once."""
    for one in dict.fromkeys(one for arm in arms for one in arm.notes):
        of = dict.fromkeys(names[arm.arm] for arm in arms if one in arm.notes)
        shared = len(of) == len({arm.arm for arm in arms})
        yield str(one) if shared else f"{listed(of)}{colon()}{one}"


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
            rate(one.tps),
            ABSENT if one.measured_tps is None else rate(one.measured_tps),
            decimals(one.perf_cpu_share, ".2f"),
        )
        for one in arms
    ]
    return table(columns, rows)


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
