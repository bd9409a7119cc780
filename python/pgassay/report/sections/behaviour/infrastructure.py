"""The server's host: processors, tasks, memory and disks, by arm and over time.

Enters: the context. Leaves: a table, a chart, and what lies on which disk.
Never: attributes load to a process, or judges a figure by a threshold.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgassay.analysis.sampled.model import HostFigure
from pgassay.language import clauses, colon, listed, tr
from pgassay.notes import Note
from pgassay.report.charts.over_time.host import host_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, note
from pgassay.report.document.captions import arm_key
from pgassay.report.document.section import Blocks, Summary, differing, section
from pgassay.report.document.text import joined, texts_of
from pgassay.report.tables.by_arm import zeros
from pgassay.report.tables.infrastructure import ROLES, disk_titles, host_table
from pgassay.samples.forms.environment import Place

sentence = texts_of(__name__)


@section("behaviour/infrastructure", "Infrastructure")
def infrastructure(context: ReportContext) -> Blocks:
    """Shows the host where it was read and arms do not run side by side."""
    found = context.analysis.explanation.infrastructure
    if not found:
        return
    differ = [one for one in found if one.differs]
    if differ:
        yield Summary(_differ(differ), is_unusual=True)
    else:
        yield differing("report/sections/figures", len(found), _compared(context))
    titles = disk_titles(context)
    shown, zero = host_table(context).without_zeros()
    yield shown
    yield zeros([one for one in zero if one[0] not in titles.values()], at=1)
    yield zeros([one for one in zero if one[0] in titles.values()], at=1, of=0)
    places = clauses(_places(context.environment.host.storage))
    yield note(
        sentence.marked("median_of_the_intervals"),
        len(context.plan.arms) > 1 and sentence("a_second_line_is"),
        context.plan.alternates and sentence("of_slices"),
        sentence("everything_on_the_host"),
        places and tr("File systems: {places}.", places=places),
    )
    chart = host_chart(context.series, context.plan, arm_styles(context.plan.arms), titles)
    if chart is not None:
        yield arm_key(context)
        label = tr("Processors, tasks, memory and disks of the host over time")
        yield Chart("host", chart, label, joined(sentence("means_of_each_arms")), has_table=True)


def _compared(context: ReportContext) -> int | None:
    return 0 if len(context.plan.arms) > 1 else None


def _differ(found: list[HostFigure]) -> Note:
    names = tuple(f"{one.name} ({one.device})" if one.device else one.name for one in found)
    return Note.of("report/sections/host-differs", n=len(names), names=names)


def _places(storage: Mapping[str, Place]) -> list[str]:
    """Lists file systems with what lies on them, such as `data, WAL: ext4 at / on vda`."""
    found: dict[str, list[str]] = {}
    for role, place in storage.items():
        devices = listed(place.devices) or tr("a device that was not found")
        words = tr(
            "{file_system} at {mount} on {devices}",
            file_system=place.file_system or tr("a file system"),
            mount=place.mount,
            devices=devices,
        )
        found.setdefault(words, []).append(ROLES.get(role, role))
    return [f"{listed(roles)}{colon()}{words}" for words, roles in found.items()]
