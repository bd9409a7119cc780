"""What a page of an application is to the clients of the benches.

Enters: nothing. Leaves: types. Never: runs anything.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import psycopg

Session = psycopg.Connection[Any]
Pages = Sequence[tuple[Callable[[Session, random.Random], None], float]]
"""Each with how often it is called, as a weight."""
