"""Whether two executions had the same answer, whatever order their rows came in.

Enters: results of the server. Leaves: a number. Never: keeps a row, or lets the number tell what
was in the rows: its key is drawn by this process and stored nowhere, so that numbers of one process
can be compared, and nothing can be guessed from them.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b

from psycopg import pq

_KEY = secrets.token_bytes(32)
_FLOATS = {700: ".4g", 701: ".10g"}
"""Types whose last digits depend on the order in which a plan adds values up, and what is kept."""


class Answer:
    """The answer of one execution, as the sum of a hash of each row."""

    def __init__(self) -> None:
        """Has no row yet."""
        self.number = 0
        """Of 64 bits."""

    def add(self, result: pq.abc.PGresult) -> None:
        """Counts the rows of a result."""
        columns = range(result.nfields)
        rounded = [at for at in columns if result.ftype(at) in _FLOATS]
        for row in range(result.ntuples):
            values = [result.get_value(row, at) for at in columns]
            for at in rounded:
                if (value := values[at]) is not None:
                    values[at] = format(float(value), _FLOATS[result.ftype(at)]).encode()
            own = blake2b(repr(values).encode(), key=_KEY, digest_size=8).digest()
            self.number = (self.number + int.from_bytes(own)) % 2**64
