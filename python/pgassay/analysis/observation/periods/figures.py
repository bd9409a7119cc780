"""Which figures two periods have, by the catalogue beside this module.

Enters: the keys of signals, the mean of each in both periods. Leaves: `Figure`s in the order of the
catalogue. Never: reads a value over time, or leaves a figure out by how much it changed.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

from pgassay.analysis.measures.model import SignalKey
from pgassay.analysis.observation.periods.model import Figure
from pgassay.notes import Term, terms_of
from pgassay.trials.host.disk_names import whole_disks

_FILE = terms_of(tomllib.loads((files(__package__) / "figures.toml").read_text("utf-8")), ["title"])
LIMITS: Mapping[str, float] = _FILE["least"]
GROUPS: Mapping[str, Term] = {one["name"]: one["title"] for one in _FILE["group"]}
IGNORED_SETTINGS: Sequence[str] = _FILE["ignored"]["settings"]
OTHERS = frozenset({"(others)", "(hidden)", "(read)"})
"""Objects that stand for many things, so that what they are changes over time."""
Means = Mapping[SignalKey, float]
"""The larger of the means of both periods, by signal."""


def figures_of(means: Means, own: Collection[str] = ()) -> tuple[Figure, ...]:
    """Returns every figure for which there are signals; `own` are query ids of statements that
    pgassay sends itself."""
    by_source: dict[str, list[SignalKey]] = defaultdict(list)
    for key in means:
        if key[1] not in own:
            by_source[key[0]].append(key)
    return tuple(one for entry in _FILE["figure"] for one in _made(entry, by_source, means))


def _made(
    entry: Mapping[str, Any], by_source: Mapping[str, Sequence[SignalKey]], means: Means
) -> Iterator[Figure]:
    top, below = (_matching(entry.get(name, ()), by_source) for name in ("signals", "per"))
    if not top or ("per" in entry and not below):
        return
    place = {"object": 1, "name": 2}.get(entry.get("each", ""))
    if place is None:
        # A sum of which a part was not read would be a sum of something else.
        if all(_matching([one], by_source) for one in entry["signals"]):
            yield _figure(entry, top, below, "")
        return
    for thing in _largest(entry, top, place, by_source, means):
        own = [[key for key in keys if key[place] == thing] for keys in (top, below)]
        if "per" not in entry or own[1]:
            yield _figure(entry, own[0], own[1], thing)


def _largest(
    entry: Mapping[str, Any],
    top: Iterable[SignalKey],
    place: int,
    by_source: Mapping[str, Sequence[SignalKey]],
    means: Means,
) -> list[str]:
    """The objects or names that are large enough to be compared."""
    things = {key[place] for key in top} - OTHERS
    if entry["signals"][0].startswith("diskstats/"):
        things &= set(whole_disks(things))
    sizes: dict[str, float] = dict.fromkeys(things, 0.0)
    by = entry.get("each_by")
    weighed = (key for key in by_source[next(iter(top))[0]] if key[2] == by) if by else top
    for key in weighed:
        if key[place] in sizes:
            sizes[key[place]] += means[key]
    enough = [thing for thing, size in sizes.items() if size >= entry.get("each_needs", 0.0)]
    return sorted(enough, key=lambda thing: (-sizes[thing], thing))[: entry["most"]]


def _figure(
    entry: Mapping[str, Any], top: Collection[SignalKey], below: Collection[SignalKey], thing: str
) -> Figure:
    return Figure(
        name=entry["name"],
        group=entry["group"],
        title=entry["title"],
        unit=entry["unit"],
        top=tuple(top),
        below=tuple(below),
        times=entry.get("times", 1.0),
        floor=entry["floor"],
        thing=thing,
        good=entry.get("good", "neither"),
    )


def _matching(
    patterns: Iterable[str], by_source: Mapping[str, Sequence[SignalKey]]
) -> list[SignalKey]:
    """The signals that any of the patterns names, in the order of the patterns."""
    found = dict[SignalKey, None]()
    for pattern in patterns:
        source, _, rest = pattern.partition("/")
        thing, _, name = rest.rpartition("/")
        fits = _fits(thing, name)
        found |= dict.fromkeys(key for key in by_source.get(source, ()) if fits(key))
    return list(found)


def _fits(thing: str, name: str) -> Callable[[SignalKey], bool]:
    return lambda key: fnmatchcase(key[1], thing) and fnmatchcase(key[2], name)
