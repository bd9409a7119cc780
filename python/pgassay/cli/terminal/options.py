"""How commands declare their options, and the options that several of them have.

Enters: nothing; texts of options that several commands read alike. Leaves: annotated types for a
command's signature; values, or an error that names the option. Never: imports what does the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pgassay.language import Language
from pgassay.refusals.refusal import Refusal, SetupRefused, UnfitValue
from pgassay.spec.reading.units import duration_s


def option(names: str, text: str, panel: str | None = None, **limits: Any) -> Any:
    """Returns an option of a command: its names with blanks between them, its help, and `min` or
    `max`."""
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


def seconds_of(option: str, text: str, least: float, most: float) -> float:
    """Returns the seconds of a text such as `90s` or `5 min`; an error names the option and its
    limits."""
    try:
        seconds = duration_s(text)
    except UnfitValue as error:
        raise error.refusal.at(option) from None
    if not least <= seconds <= most:
        raise Refusal("seconds-out-of-range", option, text=text, least=least, most=most)
    return seconds


STDOUT = Path("-")
"""What --out calls it."""


def format_by_ending(named: str | None, out: Path | None, endings: Mapping[str, str]) -> str:
    """Returns the format that was named, else that of the file's ending; without a file, HTML."""
    if named is not None or out is None:
        return named or "html"
    if (found := endings.get(out.suffix.lower())) is None:
        raise SetupRefused("file-without-format", f"--out {out}", known=", ".join(endings))
    return found


FOR_PEOPLE = ("html", "md", "brief")


def require_words(lang: str, form: str) -> None:
    """Refuses a language for a form of report that machines read, whose words are the same
    everywhere."""
    if lang != "en" and form not in FOR_PEOPLE:
        raise SetupRefused(
            "english-everywhere", f"--lang {lang}", form=form, known=", ".join(FOR_PEOPLE)
        )
