"""The server is restored even where no message can be printed."""

from __future__ import annotations

import io
import os
import signal
from typing import cast

import pytest

from pgassay.server.protocol import Target
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.run.restoring import opened


class InterruptedTerminal(io.RawIOBase):
    """Ctrl-C comes while a line is being written."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return len(cast(bytes, data))


class Words(ProgressListener):
    """Writes to that terminal through a buffer, as sys.stderr has one."""

    def __init__(self) -> None:
        self.stream = io.BufferedWriter(InterruptedTerminal())
        self.refused: list[Exception] = []

    def warned(self, text: str) -> None:
        try:
            self.stream.write(text.encode())
            self.stream.flush()
        except RuntimeError as error:
            self.refused.append(error)
            raise


class Closed:
    """A target that writes to the terminal while it is closed."""

    def __init__(self, words: Words) -> None:
        self.words, self.steps = words, 0

    kind = "existing"

    def open(self) -> None: ...

    def compared(self) -> None: ...

    def close(self) -> None:
        self.steps += 1
        self.words.stream.write(b"undoing")
        self.words.stream.flush()
        self.steps += 1


def test_a_signal_in_the_midst_of_a_written_line_does_not_break_the_restoring_off() -> None:
    words = Words()
    target = Closed(words)
    with opened(cast(Target, target), words, lambda: "the schema", lambda: True):
        pass
    assert "reentrant" in str(words.refused[0])
    assert target.steps == 2
    words.stream.detach()


def test_a_listener_that_fails_does_not_keep_the_target_from_being_closed() -> None:
    words = Words()
    target = Closed(words)

    def fail(what: str) -> None:
        if what == "restoring the server":
            raise ValueError("I/O operation on closed file")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "preparing", fail)
        with opened(cast(Target, target), words, lambda: "the schema", lambda: True):
            pass
    assert target.steps == 2
    words.stream.detach()
