"""`pgassay schema`: the JSON Schema of experiment files, for editors.

Enters: nothing. Leaves: the schema on stdout. Never: checks a file.
"""

from __future__ import annotations

import json

import typer

from pgassay.spec.model import ExperimentFile


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schema")(schema)


def schema() -> None:
    """Print the JSON Schema of experiment files."""
    found = ExperimentFile.model_json_schema()
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
    found["title"] = "pgassay experiment"
    typer.echo(json.dumps(found, indent=2))
