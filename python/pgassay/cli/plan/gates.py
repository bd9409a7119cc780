"""What `plan` foresees of gates, on the terminal.

Enters: outlooks of gates. Leaves: a line and a small table for each scatter. Never: simulates.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding
from rich.table import Table

from pgassay.analysis.gates.forecast import GateOutlook
from pgassay.cli.terminal.console import labelled, out
from pgassay.findings.noise.forecast import gate_columns, gate_rows, gate_sentences

_INDENT = 10


def print_gates_foreseen(outlooks: Sequence[GateOutlook]) -> None:
    """How often each gate will be decided, by the true change; nothing without gates."""
    for outlook in outlooks:
        sentences = gate_sentences(outlook)
        for at, sentence in enumerate(sentences):
            labelled("gate      ", sentence)
            if outlook.forecasts:
                table = Table(box=None, padding=(0, 2, 0, 0))
                for title in gate_columns():
                    table.add_column(title, justify="right")
                for row in gate_rows(outlook.forecasts[at]):
                    table.add_row(*row)
                out.print(Padding(table, (0, 0, 0, _INDENT), expand=False))
