"""How the source plans the statements of a drawing, now.

Enters: drawing.json, a connection string. Leaves: the fingerprint of each statement's generic plan.
Never: executes a statement; its session is read-only.
"""

from __future__ import annotations

from pgassay.analysis.reading.plan_shape import shape_of
from pgassay.draw.statements.parsing import tokens_of
from pgassay.draw.statements.rewriting import Piece, replaced
from pgassay.draw.stored import DrawingFile
from pgassay.server.connection.session import connect, resolve
from pgassay.server.existing.observed import STATEMENT_LIMIT_S
from pgassay.server.statements import statement
from pgassay.trials.plans.capture import explained

_LASTS_S = 120.0


def source_plans(file: DrawingFile, dsn: str) -> dict[str, str | None]:
    """Returns fingerprint of a statement → that of its plan, None where the server gives none.
    Raises ConnectionRefused."""
    found: dict[str, str | None] = {}
    with connect(
        resolve(dsn), statement_limit_s=STATEMENT_LIMIT_S, lasts_s=_LASTS_S, keeps_path=True
    ) as session:
        session.execute(statement("plans/generic_plans"), prepare=False)
        for scenario in file.scenarios:
            for one in scenario.statements:
                if one.fingerprint not in found:
                    plan = explained(session, _as_sent(one.source_text), "UTF8").get("plan")
                    found[one.fingerprint] = shape_of(plan).fingerprint if plan else None
    return found


def _as_sent(text: str) -> bytes:
    """The text with its parameters numbered as a script numbers them, by their order in it: plans
    show these numbers."""
    numbers: dict[str, str] = {}
    pieces = [
        Piece(one.start, one.end, numbers.setdefault(one.text, f"${len(numbers) + 1}"))
        for one in tokens_of(text)
        if one.name == "PARAM"
    ]
    return replaced(text, pieces).encode()
