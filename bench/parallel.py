"""Simulations on both processors.

Enters: a function and its tasks, which must reach another process. Leaves: results in their order.
Never: lets a linear-algebra library start threads of its own beside them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
PROCESSORS = 2


def spread(do: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """`do` of every task; the same results however many processors there are."""
    # Processes that are started anew read this before they load numpy.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(PROCESSORS, mp_context=get_context("spawn")) as pool:
        yield from pool.map(do, tasks)
