"""`pgassay demo`: a real experiment on an embedded server, in under two minutes.

Enters: nothing. Leaves: a run directory, a summary, a report.
Never: simulates.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.run import conclude, follow
from pgassay.samples.run_directory import default_run_path
from pgassay.spec.parse import parse_spec


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    out: Annotated[
        Path | None, typer.Option("--out", help="Run directory to make [pgassay-runs/…].")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Try it: does more room for WAL between checkpoints help a write-heavy bank?"""
    text = (files("pgassay") / "studies" / "demo.toml").read_text("utf-8")
    spec = parse_spec(text, source="demo.toml", beside=Path())
    conclude(follow(spec, out or default_run_path("demo")), as_json=as_json)
