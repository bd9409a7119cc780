"""The text of a gate, such as `p99<+5%`.

Enters: what --gate was given. Leaves: a `Gate`, or a SetupRefused that says what is allowed.
Never: asks a run whether it has the metric.

    gate := (METRIC | PART '.' MEASURE) ('>' | '<') NUMBER '%' | 'plans=same'

PART is a scenario, or a query of a set, in which `*` stands for any text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.analysis.reading.metrics import METRICS, PLAN, part_of
from pgassay.plan.model import Gate
from pgassay.refusals.refusal import SetupRefused
from pgassay.spec.endpoints import OF_QUERIES, known_endpoints
from pgassay.spec.reading.suggest import did_you_mean

_GATE = re.compile(r"\s*([A-Za-z][\w ]*?)\s*([<>])\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*(%?)\s*")
_PART = re.compile(
    r"\s*([^<>=]*[^<>=\s]\.[a-z]\w*)\s*([<>])\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*(%?)\s*"
)
_SAME_PLANS = re.compile(r"\s*plans\s*=\s*same\s*")
_MOST = 1000.0


@cache
def _names() -> Mapping[str, str]:
    """What `--gate` calls a metric, and its name or that of an endpoint."""
    return tomllib.loads((files(__package__) / "names.toml").read_text("utf-8"))


def parse_gates(texts: Iterable[str]) -> tuple[Gate, ...]:
    """Parses all gates, in their order; one that is given twice is one."""
    return tuple(dict.fromkeys(parse_gate(text) for text in texts))


def parse_gate(text: str) -> Gate:
    """Parses one gate; METRIC may have `latency` before it, as in `latency p99`."""
    if _SAME_PLANS.fullmatch(text):
        return Gate("plans=same", (f"*.{PLAN}",), False, 0.0)
    match = _GATE.fullmatch(text) or _PART.fullmatch(text)
    if match is None:
        raise SetupRefused("gate-form", f"--gate {text!r}")
    name, sign, number, unit = match.groups()
    if not unit:
        raise SetupRefused("gate-without-per-cent", f"--gate {text!r}", number=number)
    limit = float(number)
    if not -100.0 <= limit <= _MOST:
        raise SetupRefused("gate-limit-out-of-range", f"--gate {text!r}", most=_MOST)
    return Gate(text.strip(), _metrics(name, text), sign == ">", limit)


def _metrics(name: str, text: str) -> tuple[str, ...]:
    """What the name stands for, that of an open loop first, and of `mean` that of a query set."""
    named = part_of(name)
    if named is not None and named[1] != PLAN:
        return (name,)
    short = name.lower().removeprefix("latency ").strip()
    short = _names().get(short, short)
    if (entry := known_endpoints().get(short)) is not None:
        of_set = (OF_QUERIES,) if name.lower() == "mean" else ()
        return (*of_set, *_of_endpoint(entry))
    if name in METRICS:
        return (name,)
    known = [*_names(), *known_endpoints()]
    near = did_you_mean(name, [*known, *METRICS])
    values = {"name": name, "near": near, "known": ", ".join(known)}
    raise SetupRefused("no-such-metric", f"--gate {text!r}", **values)


def _of_endpoint(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry[key] for key in ("open", "metric") if key in entry)
