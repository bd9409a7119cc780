"""Read scripts that are named on a command line, as pgbench names them.

Enters: `FILE[@WEIGHT]` or a builtin's `NAME[@WEIGHT]`. Leaves: a `Scenario`, or a SpecError.
Never: parses a script.
"""

from __future__ import annotations

import math
import sys
from importlib.resources import files
from pathlib import Path

from pgassay.refusals.refusal import Refusal
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.reading.texts import bytes_of, shown
from pgassay.spec.workload.folder import Scenario, script_fields

BUILTINS = ("tpcb-like", "simple-update", "select-only")


def read_script(named: str) -> Scenario:
    """Reads a script from a file with an optional weight, such as `buy.sql@3`; `-` is standard
    input."""
    name, weight = _split(named)
    if name == "-":
        return Scenario("stdin", name, weight=weight, **script_fields(sys.stdin.buffer.read()))
    path = Path(name)
    return Scenario(shown(path.stem), shown(name), weight=weight, **script_fields(bytes_of(path)))


def builtin_script(named: str, option: str = "-b") -> Scenario:
    """Returns one of pgbench's builtin scripts, by its name or an unambiguous prefix."""
    name, weight = _split(named, is_name=True)
    matching = [builtin for builtin in BUILTINS if builtin.startswith(name)]
    if len(matching) > 1:
        raise Refusal("script-ambiguous", option=option, name=name, found=" or ".join(matching))
    if not matching:
        raise Refusal(
            "no-such-builtin", option=option, name=name, near=did_you_mean(name, BUILTINS)
        )
    file = f"{matching[0]}.sql"
    script = (files("pgassay") / "workloads" / "pgbench" / file).read_text("utf-8")
    return Scenario(matching[0], file, script, weight)


def _split(named: str, *, is_name: bool = False) -> tuple[str, float]:
    """Name and weight; a file's name may contain an @, the name of a builtin does not."""
    name, at, weight = named.rpartition("@")
    if not at:
        return named, 1.0
    try:
        value = float(weight)
    except ValueError:
        if not is_name and (Path(named).exists() or not Path(name).exists()):
            return named, 1.0
        value = math.nan
    if not (0.0 <= value < 1e9 or (-1e6 < value < 0 and value == int(value))):
        raise Refusal("not-a-script-weight", given=named, weight=weight, name=name)
    return name, value
