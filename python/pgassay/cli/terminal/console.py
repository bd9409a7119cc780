"""Where words go: results to stdout, progress to stderr.

Enters: nothing. Leaves: two rich consoles, `labelled` lines, and `plain` for text from outside.
Never: colours what is not a terminal (NO_COLOR and redirection are rich's business), cuts a
table that goes into a file or a pipe, or lets a name steer the terminal.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

_WIDE = 400
"""Columns where there is no terminal to fit."""


def plain(text: str) -> str:
    """Returns text from outside as one line, without markup or control characters."""
    return escape(one_line(text))


def one_line(text: str) -> str:
    """Text from outside, or a message, as one line without control characters, for what knows no
    markup."""
    return _printable(" ".join(str(text).split()))


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def printable_lines(text: str) -> str:
    """Returns text from outside with its lines, without other control characters."""
    return "\n".join(map(_printable, text.expandtabs().split("\n")))


class _InertConsole(Console):
    """A console that passes no control character of a text on to the terminal."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(printable_lines(text), **how)


_BELOW = "  "

out = _InertConsole(
    highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else _WIDE
)
err = _InertConsole(stderr=True, highlight=False, emoji=False, soft_wrap=True)


@contextmanager
def silenced(wanted: bool, *consoles: Console) -> Iterator[None]:
    """Print nothing on these consoles, if that is wanted; errors are not printed by them."""
    for console in consoles:
        console.quiet = wanted
    try:
        yield
    finally:
        for console in consoles:
            console.quiet = False


def counted(number: int, thing: str) -> str:
    """Returns text such as `1 arm` or `2 arms`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def labelled(label: str, text: str, style: str = "", *, console: Console = out) -> None:
    """A line `label text`; on a terminal the text wraps beside its label, elsewhere it is one line.

    The label has its blanks with it; both may come from outside.
    """
    text, beside = one_line(text), len(label)
    rows = [text]
    if console.is_terminal and beside > console.width // 2:
        # Beside so long a label there is no room: the text goes below it.
        *above, label = _wrapped(one_line(label), console.width)
        for row in above:
            console.print(_styled(row, style))
        beside, rows = len(_BELOW), ["", *_wrapped(text, console.width - len(_BELOW))]
    elif console.is_terminal:
        rows = _wrapped(text, console.width - beside)
    console.print(_styled(label, style) + escape(rows[0]))
    for row in rows[1:]:
        console.print(" " * beside + escape(row))


def _styled(label: str, style: str) -> str:
    return f"[{style}]{escape(label)}[/]" if style else escape(label)


def _wrapped(text: str, room: int) -> list[str]:
    kept = text.replace(" %", "\u00a0%")  # no line begins with a unit
    rows = textwrap.wrap(kept, room, break_long_words=False, break_on_hyphens=False)
    return [row.replace("\u00a0", " ") for row in rows] or [""]


def warn(text: str) -> None:
    """Prints a warning on stderr; its text may come from outside."""
    labelled("warning: ", text, "yellow", console=err)


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table on stdout: the first column is aligned left, the others right."""
    for line in table_lines(titles, rows):
        typer.echo(line)


def table_lines(
    titles: Sequence[str], rows: Iterable[Sequence[str]], left: Collection[int] = (0,)
) -> Iterator[str]:
    """A table as lines; columns in `left` are aligned left, the others right.

    Not a table of rich, which takes minutes for thousands of rows and wraps cells.
    """
    cells = [[_printable(cell) for cell in row] for row in (titles, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        aligned = (
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(aligned).rstrip()
