"""One headless Chromium for all tests, driven through its debugging pipe.

Enters: a page's path. Leaves: the page after its scripts ran, its console, its picture.
Never: reaches the network; names resolve to nothing.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.packages import needs

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--headless",
    # Neither root nor a container has the rights that the sandbox needs; the page is our own.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)
_START = """
import os, sys
pipes = [os.dup(int(number)) for number in sys.argv[1:3]]
for pipe, number in zip(pipes, (3, 4)):
    os.dup2(pipe, number)
    os.set_inheritable(number, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads commands from descriptor 3 and writes answers to descriptor 4."""
_TIMEOUT_S = 120
_IS_READY = """
document.readyState === "complete"
&& (!document.querySelector(".plot[data-chart]") || !!document.documentElement.dataset.charts)
"""


def find_chromium() -> str:
    """The browser; without one the test is skipped, or fails where CI says it must be there."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    return found or needs("chromium")


@dataclass(frozen=True)
class Picture:
    """A screenshot: its size, the colour of its first pixel, and how much is drawn on it."""

    width: int
    height: int
    corner: tuple[int, int, int]
    drawn_share: float


@dataclass
class Tab:
    """A page that has loaded and drawn its charts."""

    browser: Browser
    session: str
    console: list[str] = field(default_factory=list)

    def dom(self) -> str:
        """The page's elements after its scripts ran."""
        return str(self.evaluate("document.documentElement.outerHTML"))

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        return answer["result"].get("value")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command to this page, and its answer."""
        return self.browser.send(method, self.session, **parameters)

    def picture(self) -> Picture:
        """What its window shows."""
        return _read_png(base64.b64decode(self.send("Page.captureScreenshot")["data"]))


class Browser:
    """A running Chromium. Commands and events are JSON objects that end in a zero byte."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._unread = b""
        self._last_id = 0
        self._tabs: dict[str, Tab] = {}

    @contextmanager
    def open(
        self, page: Path, width: int = 1000, height: int = 1200, *, dark: bool = False
    ) -> Iterator[Tab]:
        """The page in a window of this size, for a reader who prefers light or dark."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = self._tabs[session] = Tab(self, session)
        for domain in ("Page", "Runtime", "Log"):
            tab.send(f"{domain}.enable")
        tab.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        tab.send("Emulation.setEmulatedMedia", features=[scheme])
        tab.send("Page.navigate", url=page.as_uri())
        deadline = time.monotonic() + _TIMEOUT_S
        while not tab.evaluate(f"location.href !== 'about:blank' && {_IS_READY}"):
            assert time.monotonic() < deadline, f"the page has not drawn its charts: {tab.console}"
            time.sleep(0.02)
        yield tab
        self.send("Target.closeTarget", targetId=target)

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """A command, and its answer."""
        self._last_id += 1
        command = {"id": self._last_id, "method": method, "params": parameters}
        if session is not None:
            command["sessionId"] = session
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._last_id:
                assert "error" not in message, f"{method}: {message['error']}"
                result: dict[str, Any] = message["result"]
                return result
            if (tab := self._tabs.get(message.get("sessionId", ""))) is not None:
                tab.console += _console_lines(message)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            readable, _, _ = select.select([self._answers], [], [], _TIMEOUT_S)
            assert readable, "Chromium does not answer"
            part = os.read(self._answers, 1 << 20)
            assert part, "Chromium has ended"
            self._unread += part
        text, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """A Chromium with a new profile; ended afterwards."""
    path = find_chromium()
    commands_read, commands = os.pipe()
    answers, answers_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                sys.executable, "-c", _START, str(commands_read), str(answers_write),
                path, *_FLAGS, f"--user-data-dir={profile}",
            ],
            pass_fds=(commands_read, answers_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands_read)
        os.close(answers_write)
        try:
            yield Browser(commands, answers)
        finally:
            os.close(commands)
            os.close(answers)
            process.terminate()
            process.wait(_TIMEOUT_S)


def _console_lines(event: dict[str, Any]) -> list[str]:
    """What an event adds to the page's console."""
    parameters = event.get("params", {})
    match event.get("method"):
        case "Runtime.consoleAPICalled":
            return [" ".join(str(one.get("value")) for one in parameters["args"])]
        case "Runtime.exceptionThrown":
            return [json.dumps(parameters["exceptionDetails"])]
        case "Log.entryAdded":
            return [str(parameters["entry"]["text"])]
        case _:
            return []


def _read_png(data: bytes) -> Picture:
    """Size, first pixel and drawn share of a PNG with 8 bits a channel.

    Each row is stored as the difference from its neighbours, so a blank picture is zeros but for
    its first pixel, which no neighbour changes.
    """
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, colour_type = struct.unpack(">IIBB", data[16:26])
    assert depth == 8
    assert colour_type in (2, 6)
    channels = 3 if colour_type == 2 else 4
    packed, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += length + 12
    raw = zlib.decompress(packed)
    line = width * channels + 1
    drawn = sum(line - 1 - raw[row + 1 : row + line].count(0) for row in range(0, len(raw), line))
    red, green, blue = raw[1:4]
    return Picture(width, height, (red, green, blue), drawn / (width * height * channels))
