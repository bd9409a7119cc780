"""Names with values, and numbers, as plain lines.

Enters: pairs. Leaves: lines. Never: aligns, which costs characters and breaks in e-mail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pgassay.language import clauses, colon, decimals, tr

_WIDTH = 160
"""Of a line of several names: short enough to be left out by itself."""


def pair_line(pairs: Iterable[tuple[str, str]]) -> str:
    """Names with their values in one line."""
    return clauses(f"{name} = {value}" for name, value in pairs)


def pair_lines(title: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """The same in several lines, the first with a title."""
    lines, end = [f"{title}{colon()}"], clauses(("", ""))
    for name, value in pairs:
        text = f"{name} = {value}{end}"
        if len(lines[-1]) + len(text) > _WIDTH and not lines[-1].endswith(colon()):
            lines.append("  ")
        lines[-1] += text
    return [line.rstrip(f"{end} ") for line in lines]


def number_line(
    title: str, values: Mapping[str, float], units: Mapping[str, str] | None = None
) -> str:
    """Names with numbers of four digits and their units."""
    shown = (
        (name, f"{decimals(value, '.4g')} {(units or {}).get(name, '')}")
        for name, value in values.items()
    )
    return (
        f"{title}{colon()}{pair_line((name, text.strip()) for name, text in shown) or tr('none')}"
    )


def number_lines(
    title: str, values: Mapping[str, float], units: Mapping[str, str] | None = None
) -> list[str]:
    """The same; no line without values."""
    return [number_line(title, values, units)] if values else []
