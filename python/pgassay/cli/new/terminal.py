"""Ask questions on a terminal until each has an answer that fits.

Enters: names of questions, defaults, checks. Leaves: checked answers. Never: reads where nobody
can answer, takes an end of input for an answer, or writes to stdout, which is for results.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TypeVar

from typer.exceptions import Abort

from pgassay.cli.terminal.console import err, labelled, one_line, plain
from pgassay.errors import PgassayError

Value = TypeVar("Value")


def can_ask() -> bool:
    """Returns whether somebody sees the questions and can answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(name: str, default: str, check: Callable[[str], Value], **fields: str) -> Value:
    """Asks one question of questions.toml until the check takes the answer."""
    texts = questions()[name]
    err.print(f"[bold]{plain(texts['ask'].format(**fields))}[/bold]")
    labelled("  ", texts["about"].format(**fields), "dim", console=err)
    while True:
        answer = _read(f"  [{one_line(default)}] " if default else "  ") or default
        try:
            return check(answer)
        except PgassayError as error:
            labelled("  ", str(error), "yellow", console=err)


def tell(rows: Iterable[tuple[str, str]]) -> None:
    """Names, each with a line that explains it."""
    shown = list(rows)
    width = max((len(name) for name, _ in shown), default=0)
    for name, text in shown:
        labelled(f"    {name:<{width}}  ", text, console=err)


def _read(prompt: str) -> str:
    err.print(prompt, markup=False, end="")
    line = sys.stdin.readline()
    if not line:
        raise Abort
    return line.strip()


@cache
def questions() -> Mapping[str, Mapping[str, str]]:
    """Returns the texts of all questions, by name."""
    return tomllib.loads((files(__package__) / "questions.toml").read_text("utf-8"))
