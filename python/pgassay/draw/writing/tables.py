"""The tables that the statements of a drawing use.

Enters: a drawing. Leaves: names as its statements write them. Never: asks a server.
"""

from __future__ import annotations

import re

from pgassay.draw.model import Drawing
from pgassay.draw.statements.meetings import meetings_of
from pgassay.draw.statements.parsing import Unparsable, parsed

_PLAIN = re.compile(r"[a-z_][a-z0-9_$]*")


def tables_of(drawing: Drawing) -> list[str]:
    """Returns the tables of all statements, each once, quoted where a name needs it; of one that
    failed each time on the source the tables may not be there."""
    found: set[str] = set()
    for scenario in drawing.scenarios:
        for statement in scenario.statements:
            if 0 < statement.figures.calls <= statement.figures.failed:
                continue
            try:
                tree = parsed(statement.source_text)
            except Unparsable:
                continue
            for one in meetings_of(tree).tables:
                parts = (one.schema, one.name) if one.schema else (one.name,)
                found.add(".".join(map(_quoted, parts)))
    return sorted(found)


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f'"{name.replace(chr(34), chr(34) * 2)}"'
