"""Pictures of a run's report for README.md, taken in a headless Chromium.

    PYTHONPATH=python:tests .venv/bin/python -m tools.pictures RUN

Writes docs/report.png, the top of the page on a desktop as far as the chart of the effect, and
docs/report-phone.png, the first screen of a phone.
"""

from __future__ import annotations

import argparse
import base64
import subprocess
import sys
import tempfile
from pathlib import Path

from browser.chromium import Browser, running_chromium

DOCS = Path(__file__).parents[1] / "docs"
_DESKTOP_WIDTH = 1040
_PHONE = 390, 844
_DESKTOP_SCALE, _PHONE_SCALE = 1.1, 1.5
_END = "document.querySelector('#effect figure').getBoundingClientRect().bottom + 16"


def main() -> None:
    """Make the report of a run as `pgassay report` does, and picture it."""
    options = argparse.ArgumentParser()
    options.add_argument("run", type=Path)
    run = options.parse_args().run
    with tempfile.TemporaryDirectory() as aside:
        page = Path(aside) / "report.html"
        command = [sys.executable, "-m", "pgassay", "report", str(run), "--out", str(page)]
        subprocess.run(command, check=True)
        with running_chromium() as browser:
            _take(browser, page, "report.png", _DESKTOP_WIDTH, None, _DESKTOP_SCALE)
            _take(browser, page, "report-phone.png", *_PHONE, _PHONE_SCALE)


def _take(
    browser: Browser, page: Path, name: str, width: int, height: int | None, scale: float
) -> None:
    """One picture; without a height, as far as the end of that chart."""
    with browser.open(page, width, height or 1200) as tab:
        area = {"x": 0, "y": 0, "width": width, "height": height or tab.evaluate(_END)}
        taken = tab.send(
            "Page.captureScreenshot",
            clip={**area, "scale": scale}, captureBeyondViewport=True,
        )  # fmt: skip
    path = DOCS / name
    path.write_bytes(base64.b64decode(taken["data"]))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
