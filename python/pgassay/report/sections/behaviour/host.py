"""The server's host over time.

Enters: the context. Leaves: a chart, and what lies on which device.
Never: attributes load to a process.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgassay.language import Message, colon, listed, tr
from pgassay.report.charts.over_time.host import host_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart
from pgassay.report.document.captions import arm_key
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.text import joined, texts_of
from pgassay.report.summaries.compared import compared
from pgassay.samples.forms.environment import Place

sentence = texts_of(__name__)

_ROLES = {
    "data": Message("data"),
    "wal": Message("WAL"),
    "log": Message("log"),
    "temp": Message("temporary files"),
}


@section("behaviour/host", "The host over time")
def host(context: ReportContext) -> Blocks:
    """Shows processors and disks over time, where the host was read and arms do not alternate."""
    plan = context.plan
    if plan.alternates:
        return
    storage = context.environment.host.storage
    chart = host_chart(context.series, plan, arm_styles(plan.arms), _holds(storage))
    if chart is None:
        return
    places = "; ".join(_places(storage))
    caption = joined(
        sentence("means_of_each_arms"),
        places and tr("File systems: {places}.", places=places),
    )
    yield compared(context, "report/sections/figures", "host")
    yield arm_key(context)
    yield Chart("host", chart, tr("Processors and disks of the host over time"), caption)


def _holds(storage: Mapping[str, Place]) -> dict[str, str]:
    """Maps each device to what lies on it, such as `data, WAL`."""
    found: dict[str, list[str]] = {}
    for role, place in storage.items():
        for device in dict.fromkeys((*place.devices, *place.disks)):
            found.setdefault(device, []).append(_ROLES.get(role, role))
    return {device: listed(roles) for device, roles in found.items()}


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
        found.setdefault(words, []).append(_ROLES.get(role, role))
    return [f"{listed(roles)}{colon()}{words}" for words, roles in found.items()]
