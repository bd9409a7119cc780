"""`pgassay schema`: the JSON Schema of experiment files, for editors.

Enters: nothing. Leaves: the schema on stdout. Never: checks a file.
"""

from __future__ import annotations

import json

import typer


def schema() -> None:
    """Print the JSON Schema of experiment files."""
    from pgassay.spec.model import ExperimentFile

    found = ExperimentFile.model_json_schema()
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
    found["title"] = "pgassay experiment"
    typer.echo(json.dumps(found, indent=2))
