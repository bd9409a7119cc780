"""The server of each block of a fleet.

Enters: measures of trials. Leaves: the same, those of a block's other servers as trials that do not
count. Never: compares figures of trials: the choice rests on how many arms a server has run.

A server that is lost leaves its block unfinished. The block is run again, whole, on another server:
arms of one block are compared with each other, and two servers differ by more than the arms do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.measures.model import TrialMeasures
from pgassay.notes import Note

RUN_AGAIN = Note("trials/run/run-again")


def of_one_server(trials: Sequence[TrialMeasures]) -> list[TrialMeasures]:
    """In their order; once marked, a trial is not marked again."""
    servers: dict[int, dict[str, list[TrialMeasures]]] = {}
    for trial in trials:
        servers.setdefault(trial.block, {}).setdefault(trial.server, []).append(trial)
    kept = {block: _kept(found) for block, found in servers.items() if len(found) > 1}
    return [
        trial
        if trial.server == kept.get(trial.block, trial.server) or is_left_out(trial)
        else replace(trial, invalid=(*trial.invalid, RUN_AGAIN))
        for trial in trials
    ]


def is_left_out(trial: TrialMeasures) -> bool:
    """Whether another server has run its block."""
    return RUN_AGAIN in trial.invalid


def _kept(found: dict[str, list[TrialMeasures]]) -> str:
    """The server that ran most arms; of several the one that began last."""

    def rank(server: str) -> tuple[int, int]:
        own = found[server]
        return len({one.arm for one in own if not one.invalid}), max(one.number for one in own)

    return max(found, key=rank)
