"""A command on a terminal, with somebody who answers its questions.

Enters: arguments, what is waited for and then typed. Leaves: all that was shown, the exit status.
Never: types before the question is there.
"""

from __future__ import annotations

import os
import pty
import select
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from support.runs.forked import start

LIMIT_S = 60.0
END = "\x04"
"""Ctrl-D at the start of a line."""


def talk(
    arguments: Sequence[str | Path], answers: Sequence[tuple[str, str]], **environment: str
) -> tuple[str, int]:
    """`pgassay ARGUMENTS`; after each text, what is typed."""
    ours, theirs = pty.openpty()
    words = ["-m", "pgassay", *map(str, arguments)]
    process = start(words, [theirs] * 3, os.environ | environment, session=True)
    os.close(theirs)
    shown, seen, end = "", 0, time.monotonic() + LIMIT_S
    waiting = list(answers)
    while time.monotonic() < end:
        if waiting and waiting[0][0] in " ".join(shown[seen:].split()):
            typed = waiting.pop(0)[1]
            seen = len(shown)
            os.write(ours, (typed if typed == END else f"{typed}\n").encode())
        if not select.select([ours], [], [], 0.05)[0]:
            if process.poll() is not None:
                break
            continue
        piece = b""
        with suppress(OSError):  # the other end is closed
            piece = os.read(ours, 65536)
        if not piece:
            break
        shown += piece.decode(errors="replace")
    os.close(ours)
    if waiting:
        process.kill()
        pytest.fail(f"no question {waiting[0][0]!r} in: {shown}")
    return shown, process.wait(LIMIT_S)
