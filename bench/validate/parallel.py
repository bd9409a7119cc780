"""Simulations on both processors.

Enters: a function and its tasks, which must reach another process. Leaves: results in their order.
Never: lets a linear-algebra library start threads of its own beside them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
World = TypeVar("World", bound=Hashable)
PROCESSORS = 2
_THREADS = "OPENBLAS_NUM_THREADS"


def spread(
    do: Callable[[Task], Result],
    tasks: Iterable[Task],
    cost: Callable[[Task], float] = lambda _: 0.0,
) -> Iterator[Result]:
    """`do` of every task; the same results however many processors there are.

    The most expensive tasks begin first, so that none runs alone at the end.
    """
    every = list(tasks)
    with (
        _one_thread_each(),
        ProcessPoolExecutor(PROCESSORS, mp_context=get_context("spawn")) as pool,
    ):
        places = sorted(range(len(every)), key=lambda place: -cost(every[place]))
        begun = {place: pool.submit(do, every[place]) for place in places}
        for place in range(len(every)):
            yield begun[place].result()


def counted(
    simulate: Callable[[tuple[World, int]], Counter[str]], worlds: Sequence[World], parts: int
) -> dict[World, Counter[str]]:
    """The sums of what so many parts of each world counted."""
    tasks = [(world, part) for world in worlds for part in range(parts)]
    sums = {world: Counter[str]() for world in worlds}
    for (world, _), counts in zip(tasks, spread(simulate, tasks), strict=True):
        sums[world].update(counts)
    return sums


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that are started anew read this before they load numpy."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before
