"""Where the report of a command that reads stored directories goes: stdout, a file, or a table.

Enters: the options of the command, and a context. Leaves: lines on stdout, a file.
Never: computes what the report says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pgassay.cli.terminal.options import STDOUT, format_by_ending, option, require_words
from pgassay.language import Language, in_language
from pgassay.refusals.refusal import SetupRefused

if TYPE_CHECKING:
    from pgassay.report.context import AnyContext

REPORT_FORMATS: Mapping[str, str] = MappingProxyType(
    {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}
)
"""Ending of a file → the format that every such command has."""
BRIEF_FORMATS: Mapping[str, str] = MappingProxyType({**REPORT_FORMATS, ".txt": "brief"})
"""The same of a command that also writes a brief."""
REPORT_FORMAT = option("--format", "Print the report instead of a table; with --out, its format.")
ReportFormat = Annotated[Literal["html", "md", "json"] | None, REPORT_FORMAT]
BriefFormat = Annotated[Literal["html", "md", "json", "brief"] | None, REPORT_FORMAT]
Prompt = Annotated[
    bool,
    option("--prompt", "A brief that begins with a request to a language model, without paths."),
]
ReportOut = Annotated[
    Path | None,
    option("--out", "File to write the report to; its ending says the format. - is stdout."),
]


@dataclass(frozen=True)
class Output:
    """What is to be shown, and where."""

    form: str
    """Such as `html`; of the file, or of what is printed in place of a table."""
    out: Path | None
    """The file; None where nothing is written."""
    is_printed: bool
    """Whether the report itself is printed."""
    as_json: bool
    lang: Language

    @property
    def is_report(self) -> bool:
        """Returns whether a report for people is made, which has charts."""
        shown = self.out is not None or (self.is_printed and not self.as_json)
        return shown and self.form != "json"


def output_of(
    output_format: str | None,
    out: Path | None,
    endings: Mapping[str, str] = REPORT_FORMATS,
    *,
    as_json: bool,
    lang: Language,
    prompt: bool = False,
) -> Output:
    """Checks the options and says what they ask for; `endings`: of a file → its format. A prompt
    is a brief with a request at its head."""
    if prompt and output_format is None and out is None:
        output_format = "brief"
    if out == STDOUT:
        out, output_format = None, output_format or "html"
    form = format_by_ending(output_format, out, endings)
    if prompt and form != "brief":
        raise SetupRefused("prompt-of-another-format")
    is_printed = as_json or (output_format is not None and out is None)
    require_words(lang, "json" if as_json else form if is_printed or out else "the table")
    if out is not None and not out.parent.is_dir():
        raise SetupRefused("no-folder-to-write-to", f"--out {out}", folder=out.parent)
    return Output("prompt" if prompt else form, out, is_printed, as_json, lang)


def give(output: Output, context: AnyContext, *, quiet: bool, pictures: bool = False) -> None:
    """Writes the file that was asked for, and prints the report or a summary of it."""
    from pgassay.cli.terminal import console
    from pgassay.cli.terminal.summary import print_summary
    from pgassay.report.formats.registry import rendered

    out = output.out
    with in_language(output.lang):
        if out is not None:
            _write(out, context, output.form, pictures=pictures)
        form = "json" if output.as_json else output.form
        text = rendered(context, form) if output.is_printed else b""
        with console.silenced(quiet, console.out, console.err):
            if output.is_printed:
                typer.echo(text, nl=not text.endswith(b"\n"))
            else:
                print_summary(context, None)
            if out is not None:
                console.err.print(f"written: {out}", markup=False)


def _write(out: Path, context: AnyContext, form: str, *, pictures: bool) -> None:
    from pgassay.report.formats.markdown import illustrated_markdown
    from pgassay.report.formats.registry import rendered
    from pgassay.samples.storage.files import write_atomically

    if not pictures:
        write_atomically(out, rendered(context, form))
        return
    page, drawings = illustrated_markdown(context, out.stem)
    for name, drawing in drawings.items():
        write_atomically(out.parent / name, drawing.encode())
    write_atomically(out, page.encode())
