"""The flame graphs that a report shows.

Enters: the drawings stored with a run, where the page lies. Leaves: those that fit into one page,
and where all lie, as seen from there.
Never: draws.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pgassay.analysis.profiles.model import Profiles
from pgassay.plan.model import Plan
from pgassay.report.context import FlameGraph
from pgassay.samples.layout import PROFILES
from pgassay.samples.profiles import ProfileDirectory
from pgassay.trials.profile.model import INLINE, difference_stem

_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
MOST_BYTES = 6_000_000
"""Of all drawings in a page, about as much as the library of its charts; later ones are linked."""


def flame_graphs(
    folder: ProfileDirectory, plan: Plan, profiles: Profiles | None
) -> tuple[FlameGraph, ...]:
    """Differences first, then each arm's own."""
    if profiles is None:
        return ()
    wanted = [
        (one.arm, one.kind, one.baseline, difference_stem(one.baseline, one.arm, one.kind))
        for one in profiles.differences
    ]
    wanted += [(one.arm, one.kind, "", f"{one.arm}/{one.kind}") for one in profiles.arms]
    found, room = [], MOST_BYTES
    for arm, kind, baseline, stem in wanted:
        svg = folder.text(f"{stem}{INLINE}")
        if not svg:
            continue
        shown = svg if len(svg) <= room else ""
        room -= len(shown)
        file = f"{PROFILES}/{stem}.svg"
        found.append(FlameGraph(arm, kind, file, shown, baseline, _height(svg)))
    return tuple(found)


def linked_from(page: Path, run: Path, graphs: Iterable[FlameGraph]) -> tuple[FlameGraph, ...]:
    """The drawings of a run for a page that may lie in another folder than the run's."""
    away = Path(os.path.relpath(run.resolve(), page.resolve().parent))
    return tuple(replace(one, file=(away / one.file).as_posix()) for one in graphs)


def _height(svg: str) -> int:
    size = _SIZE.search(svg)
    return 0 if size is None else math.ceil(100 * int(size[2]) / int(size[1]))
