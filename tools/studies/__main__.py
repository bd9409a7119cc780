"""Run studies, keep their runs, and make the pages of docs/studies anew, in each language.

    python -m tools.studies                        the pages alone, of the runs that are kept
    python -m tools.studies NAME ... [--until HH:MM]   run these studies first, one after the other
    python -m tools.studies --all [--until HH:MM]  all that are not kept with today's experiment
    python -m tools.studies NAME --run DIR         take a stored run instead

At --until the study that runs is broken off as by Ctrl-C; the next call goes on with it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.studies.kept import keep
from tools.studies.pages import write_pages
from tools.studies.running import ends_at, run_each

from pgassay.studies.catalogue import names, study


def main() -> None:
    """Run, keep, write."""
    options = argparse.ArgumentParser()
    options.add_argument("names", nargs="*")
    options.add_argument("--all", action="store_true")
    options.add_argument("--until", type=ends_at)
    options.add_argument("--run", type=Path)
    given = options.parse_args()
    try:
        if given.run:
            keep(study(*given.names), given.run)
        else:
            run_each([study(one) for one in (names() if given.all else given.names)], given.until)
    finally:
        write_pages()


if __name__ == "__main__":
    main()
