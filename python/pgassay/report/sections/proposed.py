"""The experiment file that `--propose` writes, in a report.

Enters: a proposal, or none. Leaves: blocks. Never: names a cause.
"""

from __future__ import annotations

from pgassay.findings.suspects import Proposal
from pgassay.language import tr
from pgassay.report.document.blocks import Code, Fold, Items
from pgassay.report.document.section import Blocks


def proposed(found: Proposal | None) -> Blocks:
    """Yields what it would test, and the file; nothing where there is none."""
    if found is not None:
        yield Items(found.why, "method")
        yield Fold(tr("The experiment file"), [Code(found.spec, "toml")], in_text=True)
