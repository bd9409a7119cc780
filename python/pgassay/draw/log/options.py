"""What is asked of a log.

Enters: nothing. Leaves: `LogOptions`. Never: reads a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Which entries of a log are read, and how much is kept of them."""

    database: str | None = None
    """Only its entries; without one, those of the database that most of the time went to."""
    user: str | None = None
    application: str | None = None
    prefix: str | None = None
    """log_line_prefix, of a log in the form stderr; guessed without it."""
    sampled: float = 1.0
    """The share of transactions that was logged (log_transaction_sample_rate); numbers and times
    are scaled by it."""
    most_rows: int = 100_000
    """Of parameters, in one scenario; a random sample of more."""
    most_scenarios: int = 50
    seed: int = 1
    keep_constants: bool = True
    """A constant of the client's program stays in the text; False makes all of them parameters."""
    progress: Callable[[float], None] | None = None
    """Called now and then with the share of the files' bytes that is read."""
