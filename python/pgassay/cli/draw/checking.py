"""`pgassay draw --check RUN`: the run beside the source of its workload.

Enters: a run directory. Leaves: tables on stdout, or Markdown, or one JSON object.
Never: runs anything, or executes a statement on the source.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from pgassay.cli.terminal.blocks import print_blocks
from pgassay.draw.check.blocks import blocks_of
from pgassay.draw.check.comparing import compared
from pgassay.draw.check.finding import drawing_of
from pgassay.draw.check.model import Checked
from pgassay.draw.check.plans import source_plans
from pgassay.draw.check.reading import read_run
from pgassay.draw.statements.parsing import Unparsable, fingerprint
from pgassay.report.formats.markdown import markdown_of
from pgassay.samples.run_directory import RunDirectory
from pgassay.stored_notes import coded

_SCHEMA = "pgassay.draw-check/1"


def show_check(
    path: Path, of: Path | None, dsn: str | None, *, plans: bool, output_format: str | None
) -> None:
    """Compares and prints; `dsn` is the source whose plans are compared, by default that of the
    run's experiment."""
    run = RunDirectory.open(path)
    found = drawing_of(run, of)
    figures = read_run(run)
    of_source = (figures.plans, dsn or found.dsn, found.file.schemas)
    asked = source_plans(*of_source) if plans else None
    checked = compared(found, figures, str(path), _known, asked)
    if output_format == "json":
        typer.echo(json.dumps(check_object(checked), ensure_ascii=False))
    elif output_format == "md":
        typer.echo(markdown_of(blocks_of(checked)), nl=False)
    else:
        print_blocks(blocks_of(checked))


def check_object(checked: Checked) -> dict[str, Any]:
    """Returns the object that `--format json` prints."""
    found = asdict(checked)
    found |= coded("notes", checked.notes)
    return {"schema": _SCHEMA, "true": checked.is_true, **found}


def _known(text: str) -> str | None:
    try:
        return fingerprint(text)
    except Unparsable:
        return None
