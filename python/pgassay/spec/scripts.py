"""Scripts named on a command line, as pgbench names them.

Enters: `FILE[@WEIGHT]` or a builtin's `NAME[@WEIGHT]`. Leaves: a `Scenario`, or a SpecError.
Never: parses a script.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

from pgassay.errors import SpecError
from pgassay.spec.suggest import did_you_mean
from pgassay.spec.texts import decoded, text_of
from pgassay.spec.workload import Scenario

BUILTINS = ("tpcb-like", "simple-update", "select-only")


def read_script(named: str) -> Scenario:
    """A script file with an optional weight; `-` is standard input."""
    name, weight = _split(named)
    if name == "-":
        return Scenario("stdin", name, decoded(sys.stdin.buffer.read(), name), weight)
    path = Path(name)
    return Scenario(path.stem, name, text_of(path), weight)


def builtin_script(named: str, option: str = "-b") -> Scenario:
    """One of pgbench's own scripts; a prefix is enough where it is the only one."""
    name, weight = _split(named)
    matching = [builtin for builtin in BUILTINS if builtin.startswith(name)]
    if len(matching) > 1:
        raise SpecError(f"{option} {name}: may be {' or '.join(matching)}; write more of it")
    if not matching:
        raise SpecError(f"{option} {name}: no such builtin script{did_you_mean(name, BUILTINS)}")
    file = f"{matching[0]}.sql"
    script = (files("pgassay") / "workloads" / "pgbench" / file).read_text("utf-8")
    return Scenario(matching[0], file, script, weight)


def _split(named: str) -> tuple[str, float]:
    name, at, weight = named.rpartition("@")
    if not at:
        return named, 1.0
    try:
        value = float(weight)
    except ValueError:
        return named, 1.0  # an @ in a file's name
    if not (0.0 <= value < 1e9 or (-1e6 < value < 0 and value == int(value))):
        raise SpecError(
            f"{named}: a weight is a number from 0 on, or with --pool per-scenario −n connections"
        )
    return name, value
