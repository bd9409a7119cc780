"""A headless Chromium, driven by its command line alone.

Enters: a page's path. Leaves: the page as the browser made it, its console errors, its picture.
Never: reaches the network; names resolve to nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--headless",
    # Neither root nor a container has the rights the sandbox needs; the page is our own.
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
    "--enable-logging=stderr",
    "--virtual-time-budget=20000",
)
_CONSOLE = re.compile(r"^\[[^\]]*:CONSOLE[^\]]*\] (.*)", re.MULTILINE)
_TIMEOUT_S = 150


def find_chromium() -> str:
    """The browser; without one the test is skipped, or fails where CI says it must be there."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        reason = f"no Chromium on PATH (looked for {', '.join(_NAMES)})"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}; CI must install one")
        pytest.skip(reason)
    return found


@dataclass(frozen=True)
class Picture:
    """A screenshot: its size, the colour of its first pixel, and how much is drawn on it."""

    width: int
    height: int
    corner: tuple[int, int, int]
    drawn_share: float


@dataclass(frozen=True)
class Browser:
    """One Chromium binary."""

    path: str

    def dump(self, page: Path, *flags: str) -> tuple[str, list[str]]:
        """The page's elements after its scripts ran, and what was written to its console."""
        done = self._run("--dump-dom", *flags, page.as_uri())
        return done.stdout, _CONSOLE.findall(done.stderr)

    def picture(self, page: Path, width: int, height: int, *, dark: bool = False) -> Picture:
        """The top of the page as it is seen."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "screenshot.png"
            self._run(
                f"--screenshot={file}",
                f"--window-size={width},{height}",
                f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                page.as_uri(),
            )
            return _read_png(file.read_bytes())

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            done = subprocess.run(
                [self.path, *_FLAGS, f"--user-data-dir={profile}", *arguments],
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        assert done.returncode == 0, done.stderr[-2000:]
        return done


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
