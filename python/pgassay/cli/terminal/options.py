"""How commands declare their options, and the options that several of them have.

Enters: nothing. Leaves: annotated types for a command's signature. Never: reads a value.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pgassay.language import Language


def option(names: str, text: str, panel: str | None = None, **limits: Any) -> Any:
    """An option: its names with blanks between them, its help, and `min` or `max`."""
    return typer.Option(*names.split(), help=text, rich_help_panel=panel, **limits)


Out = Annotated[Path | None, option("--out", "Directory to create [pgassay-runs/…].")]
RunOut = Annotated[
    Path | None, option("--out", "Directory to create, or a URL such as s3://… [pgassay-runs/…].")
]
Json = Annotated[bool, option("--json", "Print one JSON object.")]
Untrusted = Annotated[
    bool,
    option("--untrusted", "Refuse what lets the file run programs or reach beyond its folder."),
]
Plain = Annotated[bool, option("--plain", "Print lines instead of a live view.")]
Quiet = Annotated[bool, option("-q --quiet", "Print nothing but errors and the result.")]
GateTexts = Annotated[
    list[str] | None,
    option("--gate", 'Exit with 3 where a change is beyond this, as "throughput>-2%"; repeatable.'),
]
Lang = Annotated[
    Language,
    option("--lang", "Language of a report for people: html, md or brief."),
]
GateUndecided = Annotated[
    Literal["pass", "worse", "fail"],
    option(
        "--gate-undecided", "Exit with 4 where a gate is undecided: never, where worse, always."
    ),
]
GatesOnly = Annotated[
    bool, option("--gates-only", "End when all gates are decided, though a verdict may be open.")
]
