"""A report whose names try to be markup, formulas, or something that cannot be seen.

Enters: a folder. Leaves: a `ReportContext`. Never: holds a name that PostgreSQL could not have.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.analysis.statements.model import StatementCosts, StatementUse
from pgassay.report.context import ReportContext
from support.synthetic.analyses import changed
from support.synthetic.report_contexts import synthetic_context, with_facts

FORMULA = "=cmd|' /C calc'!A0"
AT = "@SUM(1+1)*cmd"
MARKUP = "</script><script>alert(1)</script>"
RIGHT_TO_LEFT = "abc\u202edcba"
CONTROL = "bell\x07 \x00 and\r\nmore \uffff"
NAMES = (FORMULA, AT, "-2+3", "+1 hour", "\tindented", MARKUP, RIGHT_TO_LEFT, CONTROL, "🐘, \"x'")
_SPEC = f"""
question = "{MARKUP} {FORMULA} \\u202e \\u0007 ]]> & \\u2028"
[factors.postgres]
search_path = ["{FORMULA}", "{AT}"]
[load]
clients = 8
step = "5s"
[design]
min_blocks = 2
max_blocks = 2
seed = 7
"""


def hostile_context(folder: Path) -> ReportContext:
    """A run of two levels with hostile names wherever the outside names something."""
    found = synthetic_context(folder, _SPEC)
    costs = StatementCosts(
        "a1", 2, 1.0, 1.0, 1.0, 50.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, ((FORMULA, 1.0),)
    )
    used = tuple(
        StatementUse(f"-{at}", text, at, True, (costs,)) for at, text in enumerate(NAMES, 1)
    )
    return with_facts(
        found,
        run_name=f"run {FORMULA}",
        analysis=changed(found.analysis, statement_use=used),
        environment={**found.environment.given, "host": {name: name for name in NAMES}},
    )
