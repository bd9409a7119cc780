"""Keep the run of a study, and make the pages of docs/studies anew.

    python -m tools.studies [NAME [--run DIR]]

Without NAME all pages are made of the runs that are kept. With NAME the quick form runs first, or a
stored run is taken, and is kept for its page.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from tools.studies.kept import keep
from tools.studies.pages import PAGES, page

from pgassay.studies.catalogue import names, study


def main() -> None:
    """Run, keep, write."""
    options = argparse.ArgumentParser()
    options.add_argument("name", nargs="?")
    options.add_argument("--run", type=Path)
    given = options.parse_args()
    if given.name:
        run = given.run or Path("target", "studies", given.name)
        if given.run is None:
            command = [sys.executable, "-m", "pgassay", "study", "run", given.name]
            subprocess.run([*command, "--out", str(run)], check=True)
        keep(study(given.name), run)
    for name in names():
        (PAGES / f"{name}.md").write_text(page(study(name)), "utf-8")


if __name__ == "__main__":
    main()
