"""experiment.toml of a drawn workload: runs it on copies of its server.

Enters: a drawing, the server's connection string, a first question. Leaves: commented TOML.
Never: has a password, or lets a name out of its quotes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from psycopg.conninfo import make_conninfo

from pgassay.draw.model import Drawing, Source
from pgassay.draw.writing.workload_file import title_of
from pgassay.spec.reading.tables import toml_literal

EXPERIMENT = "experiment.toml"
TEMPLATE = f"{EXPERIMENT}.j2"
_FEWEST_CLIENTS = 8
_MOST_CLIENTS = 1000
_ROOM = 4
"""Connections for each session that was at work on average, so that a rate is not held back."""


@dataclass(frozen=True)
class FirstQuestion:
    """A setting to vary first."""

    name: str
    levels: tuple[str, ...]
    """The server's own value, and another."""


def experiment_toml(
    drawing: Drawing,
    dsn: str | None,
    factor: FirstQuestion | None,
    shown: str,
    replay: str | None = None,
) -> str:
    """Returns the text of the file; `shown` is its path as a command line has it. With `replay`, a
    trace beside it, that is the load, and not the scenarios."""
    template = (files(__package__) / TEMPLATE).read_text("utf-8")
    environment = Environment(  # noqa: S701 - TOML, whose values `toml` quotes
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["toml"] = toml_literal
    question = (
        f"Does {factor.name} = {factor.levels[1]} pay with this load?"
        if factor
        else "How fast is this load on a copy of the server?"
    )
    return environment.from_string(template).render(
        title=" ".join(title_of(drawing).split()),
        shown=" ".join(shown.split()),
        question=question,
        is_guessed=dsn is None,
        dsn=dsn if dsn is not None else _to_edit(drawing.figures.database),
        factor=factor,
        protocol=drawing.protocol.value,
        rate=rate_of(drawing),
        is_of_statements=drawing.source is Source.STATISTICS,
        clients=clients_of(drawing),
        replay=replay,
    )


def _to_edit(database: str) -> str:
    """A connection string for the user to complete."""
    return make_conninfo(dbname=database) if database else "service=NAME"


def rate_of(drawing: Drawing) -> str | None:
    """Returns the transactions (1/s) that scenarios had on the source; None where none is known."""
    if not drawing.figures.seconds:
        return None
    found = sum(one.transactions for one in drawing.scenarios) / drawing.figures.seconds
    return f"{float(f'{found:.3g}'):g}" if found > 0 else None


def clients_of(drawing: Drawing) -> int:
    """Returns as many connections as the source had, and enough for those at work."""
    figures = drawing.figures
    at_work = math.ceil((figures.active_sessions or 0.0) * _ROOM)
    return min(max(figures.sessions or 0, at_work, _FEWEST_CLIENTS), _MOST_CLIENTS)
