"""Profiles of which every stack is known.

Enters: stacks, a kind, how many transactions there were. Leaves: a profile of 1000 samples.
Never: calls perf.
"""

from __future__ import annotations

from pgassay.trials.profile.model import Profile

STACKS = (
    "client backend;scenario pay;PostgresMain;ExecSort;ExecSort;cmp 400\n"
    "client backend;scenario pay;PostgresMain;CommitTransaction;fsync_[k] 400\n"
    "client backend;scenario pay;[stack cut off];cmp 100\n"
    "walwriter;WalWriterMain;XLogWrite 100\n"
)


def profile(stacks: str = STACKS, *, kind: str = "cpu", transactions: float = 1000.0) -> Profile:
    return Profile(
        kind="cpu" if kind == "cpu" else "off-cpu",
        stacks=stacks,
        unit_ns=10e6,
        started_ns=1,
        seconds=10.0,
        samples=1000,
        unnamed=0,
        cut_off=0,
        perf_cpu_s=0.5,
        transactions=transactions,
    )
