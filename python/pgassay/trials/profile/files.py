"""A profile as files that people and other programs read.

Enters: profiles. Leaves: name → bytes: folded stacks, flame graphs (SVG), speedscope's JSON,
pprof's protocol buffer. Never: stores a file.

A flame graph comes twice: one with a script, to be zoomed and searched in a browser of its own,
and one without for a report, whose page lets no script of others run.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence

from pgassay import _core
from pgassay.trials.profile.model import INLINE, TITLES, Profile


def files_of(profile: Profile, name: str) -> dict[str, bytes]:
    """Returns all files of one profile, by name; `name` is that of the arm or server."""
    kind, stacks = profile.kind, profile.stacks
    value = kind.replace("-", "_")
    duration_ns = round(profile.seconds * 1e9)
    pprof = _core.pprof(stacks, value, profile.unit_ns, profile.started_ns, duration_ns)
    return {
        f"{kind}.folded": stacks.encode(),
        f"{kind}.speedscope.json": _core.speedscope(stacks, name, profile.unit_ns).encode(),
        # Without a time stamp: the same profile is the same file.
        f"{kind}.pb.gz": gzip.compress(pprof, mtime=0),
        **_drawn(
            kind,
            lambda drawing: _core.draw_flame_graph(stacks, drawing),
            {
                "title": f"{TITLES[kind]}, by function",
                "subtitle": f"{name}: {_described(profile)}",
                "unit": _unit(profile),
                "factor": factor(profile),
            },
        ),
    }


def difference_files(
    before: Profile, after: Profile, names: tuple[str, str], stem: str
) -> dict[str, bytes]:
    """Returns the flame graph of the profile that takes more, so that what was saved shows too; red
    is where `after` takes more than `before`."""
    saves = per_transaction_ns(before) > per_transaction_ns(after)
    drawn, other = (before, after) if saves else (after, before)
    return _drawn(
        stem,
        lambda drawing: _core.draw_difference(
            (other.stacks, factor(other)), (drawn.stacks, factor(drawn)), drawing
        ),
        {
            "title": f"{TITLES[after.kind]} per transaction, by function",
            "subtitle": f"red: the function itself takes more with {names[1]} than with {names[0]};"
            f" blue: less; widths are of {names[0 if saves else 1]}",
            "unit": _unit(after),
            "negated": saves,
        },
    )


def pairs(before: Sequence[Profile], after: Sequence[Profile]) -> list[tuple[Profile, Profile]]:
    """Yields pairs of profiles of the same kind that can be compared per transaction."""
    by_kind = {one.kind: one for one in before if one.transactions}
    return [(by_kind[one.kind], one) for one in after if one.kind in by_kind and one.transactions]


def per_transaction_ns(profile: Profile) -> float:
    """Returns the time of a whole profile per transaction, in nanoseconds."""
    return profile.ns / (profile.transactions or 1.0)


def factor(profile: Profile) -> float:
    """Returns the nanoseconds per transaction that a unit of weight stands for; without
    transactions its milliseconds."""
    if profile.transactions:
        return profile.unit_ns / profile.transactions
    return profile.unit_ns / 1e6


def _unit(profile: Profile) -> str:
    return "ns per transaction" if profile.transactions else "ms"


def _described(profile: Profile) -> str:
    said = f"{profile.samples:,} samples in {profile.seconds:.1f} s"
    if profile.transactions:
        said += f", {profile.transactions:,.0f} transactions"
    return said


def _drawn(
    stem: str, draw: Callable[[str], str], drawing: Mapping[str, object]
) -> dict[str, bytes]:
    try:
        return {
            name: draw(json.dumps({**drawing, "interactive": interactive})).encode()
            for name, interactive in ((f"{stem}.svg", True), (f"{stem}{INLINE}", False))
        }
    except _core.CoreError:  # every weight rounds to nothing
        return {}
