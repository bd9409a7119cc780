"""What a node does in tests of a cluster.

Enters: calls. Leaves: answers, slow ones, errors. Never: is part of pgassay.
"""

from __future__ import annotations

import os
import time

from pgassay.cluster.calls import ActorLost
from pgassay.cluster.nodes import OnNode
from pgassay.errors import SettingRejected
from pgassay.trials.load.generators.on_ray import GeneratorOnNode


class Worker(OnNode):
    """An actor."""

    def __init__(self) -> None:
        self.is_slow = False

    def process(self) -> int:
        return os.getpid()

    def slow(self, seconds: float) -> tuple[float, float]:
        """When it began and ended, by the clock of this machine."""
        began = time.time()
        self.is_slow = True
        time.sleep(seconds)
        self.is_slow = False
        return began, time.time()

    def at_work(self) -> bool:
        """Whether it is slow just now."""
        return self.is_slow

    def refuse(self) -> None:
        raise SettingRejected("work_mem", "work_mem: too much", sqlstate="22023")

    def lose(self, why: str) -> None:
        """Say that what it drives is gone."""
        raise ActorLost("server-lost", why=why)


class MortalGenerator(GeneratorOnNode):
    """A load generator that says which process to kill."""

    def process(self) -> int:
        return os.getpid()
