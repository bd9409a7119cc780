"""`pgassay schema`: JSON Schemas: of experiment files, for editors, and of what pgassay prints.

Enters: the name of a schema. Leaves: the schema on stdout. Never: checks a file.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer


def schema(
    name: Annotated[
        Literal["experiment", "run", "analysis", "history", "periods", "incidents"],
        typer.Argument(
            help="experiment: an experiment file; run: what run --json prints; analysis: what"
            " report --format json prints; history, periods, incidents: what history, observe"
            " compare and observe incidents print."
        ),
    ] = "experiment",
) -> None:
    """Print the JSON Schema of experiment files, or of JSON output."""
    if name == "experiment":
        from pgassay.spec.model import ExperimentFile

        found = ExperimentFile.model_json_schema()
        found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
        found["title"] = "pgassay experiment"
    else:
        from pgassay.report.objects.schemas import json_schema

        found = json_schema(name)
    typer.echo(json.dumps(found, indent=2))
