"""Run studies one after the other, over as many evenings as that takes.

Enters: names of studies, when to stop. Leaves: a finished run of each in target/studies, kept for
its page; a run that the deadline broke off, which the next call resumes. Never: runs two at once,
begins a study again that is kept with today's experiment, or leaves swap space that it has made.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from tools.studies.kept import RESULTS, keep

from pgassay.errors import PgassayError
from pgassay.plan.description import run_lengths, time_range
from pgassay.plan.design import make_plan
from pgassay.studies.catalogue import Form, Study

RUNS = Path("target", "studies")
SWAP_BYTES = 2 << 30
_SWAPS = Path("/proc/swaps")
_SWAPPINESS = "vm.swappiness"


def ends_at(text: str) -> datetime:
    """The next time that a clock shows HH:MM."""
    now = datetime.now()  # noqa: DTZ005 - a clock on the wall
    hour, minute = map(int, text.split(":"))
    at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return at if at > now else at + timedelta(days=1)


def run_each(studies: Sequence[Study], until: datetime | None) -> None:
    """Run and keep each, those that may take longest last; those that are kept with today's
    experiment are left out."""
    for study in sorted(studies, key=_longest_s):
        if _is_kept(study):
            print(f"{study.name}: kept already")
            continue
        if until is not None and datetime.now() >= until:  # noqa: DTZ005
            print(f"{study.name}: left for another evening")
            continue
        print(f"{study.name}: {time_range(make_plan(study.spec(Form.QUICK)))}", flush=True)
        if not _run(study, until):
            print(f"{study.name}: not finished; the next call goes on with it")
            continue
        try:
            keep(study, RUNS / study.name)
        except PgassayError as error:  # the others of the evening still run
            print(f"{study.name}: not kept: {error}")


def _longest_s(study: Study) -> float:
    return run_lengths(make_plan(study.spec(Form.QUICK)))[1]


def _is_kept(study: Study) -> bool:
    file = RESULTS / f"{study.name}.json"
    if not file.is_file():
        return False
    made: str = json.loads(file.read_text("utf-8"))["experiment"]
    return made == study.experiment(Form.QUICK)


def _run(study: Study, until: datetime | None) -> bool:
    """Run or resume a study's quick form; whether it came to its end."""
    path = RUNS / study.name
    stored = path / "spec.toml"
    if stored.is_file() and stored.read_text("utf-8") != study.experiment(Form.QUICK):
        path.rename(path.with_name(f"{study.name} {datetime.now():%Y-%m-%d %H%M%S}"))  # noqa: DTZ005
    resumes = stored.is_file()
    what = ["run", "--resume", str(path)] if resumes else ["study", "run", study.name]
    where = [] if resumes else ["--out", str(path)]
    with _swap_space(_SWAPPINESS in study.experiment(Form.QUICK)):
        process = subprocess.Popen([sys.executable, "-m", "pgassay", *what, *where, "--plain"])
        try:
            left = None if until is None else (until - datetime.now()).total_seconds()  # noqa: DTZ005
            return process.wait(left) == 0
        except subprocess.TimeoutExpired:
            # As Ctrl-C: the run puts server and host back, and keeps its finished trials.
            process.send_signal(signal.SIGINT)
            return process.wait() == 0
        except KeyboardInterrupt:  # which the run has had, too
            process.wait()
            raise


@contextmanager
def _swap_space(is_used: bool) -> Iterator[None]:
    """A file to swap to, where a study needs one and the host has none."""
    if not is_used or len(_SWAPS.read_text().splitlines()) > 1:
        yield
        return
    RUNS.mkdir(parents=True, exist_ok=True)
    file = RUNS / "swap"
    file.unlink(missing_ok=True)
    file.touch(0o600)
    _call("fallocate", "-l", f"{SWAP_BYTES}", file)
    _call("mkswap", "-q", file)
    _call("swapon", file)
    try:
        yield
    finally:
        _call("swapoff", file)
        file.unlink()


def _call(*command: str | Path) -> None:
    subprocess.run(list(map(str, command)), check=True)
