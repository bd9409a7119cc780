"""workload.toml of a drawn workload.

Enters: a drawing, the tables that its statements name. Leaves: TOML. Never: has a value of a
parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pgassay.draw.model import Drawing, DrawnScenario, Source
from pgassay.spec.reading.tables import toml_key, toml_literal

PARAMETERS = "parameters"
"""The folder of the parameters' files."""


def title_of(drawing: Drawing) -> str:
    """Returns the line that reports show of the workload."""
    source = "statistics" if drawing.source is Source.STATISTICS else "log"
    of = f" of database {drawing.figures.database}" if drawing.figures.database else ""
    return f"Drawn from the {source}{of}"


def workload_toml(drawing: Drawing, tables: Iterable[str]) -> str:
    """Returns the text of workload.toml; weights are the source's numbers of transactions."""
    lines = [
        "# Written by `pgassay draw`; FIDELITY.md says how true it is. It may be edited.",
        f"title = {toml_literal(title_of(drawing))}",
        'data = "installed"          # the tables are those of the server that is copied',
        f"tables = {toml_literal(sorted(tables))}",
    ]
    if drawing.schemas:
        lines += [
            "# Where the source's sessions look for names.",
            f"schemas = {toml_literal(list(drawing.schemas))}",
        ]
    for scenario in drawing.scenarios:
        lines += ["", *_scenario(scenario)]
    return "\n".join(lines) + "\n"


def _scenario(scenario: DrawnScenario) -> Iterator[str]:
    yield f"[scenarios.{toml_key(scenario.name)}]"
    yield f"file = {toml_literal(script_name(scenario))}"
    yield f"weight = {max(scenario.transactions, 1)}"
    if scenario.parameters is not None:
        yield f"parameters = {toml_literal(f'{PARAMETERS}/{scenario.name}.parquet')}"
        yield f"order = {toml_literal(scenario.order)}"


def script_name(scenario: DrawnScenario) -> str:
    """Returns the name of a scenario's script in the folder."""
    return f"{scenario.name}.sql"
