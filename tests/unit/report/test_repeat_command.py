"""The command that repeats a run draws the very plan that was run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.plan.design import make_plan
from pgassay.report.repeat_command import repeat_command
from pgassay.spec.parse import parse_spec

SPEC = """
[factors.postgres]
work_mem = ["4MB", "64MB"]
[load]
step = "20s"
[design]
{mode}
"""


@pytest.mark.parametrize(
    ("in_file", "asked", "calibrates", "options"),
    [
        ("", None, False, ""),
        ("mode = 'switchback'", None, False, ""),
        ("mode = 'switchback'", "blocks", False, " --mode blocks"),
        ("mode = 'auto'", None, False, " --mode switchback"),
        ("", None, True, " --aa"),
        ("", "duet", True, " --mode duet --aa"),
        ("mode = 'switchback'", "blocks", True, " --mode blocks --aa"),
    ],
)
def test_the_mode_is_named_where_the_file_has_another(
    in_file: str, asked: str | None, calibrates: bool, options: str
) -> None:
    text = SPEC.format(mode=in_file)
    spec = parse_spec(text, source="x.toml", beside=Path(), seed=3, mode=asked)
    plan = make_plan(spec, calibrates=calibrates)
    command = repeat_command(Path("run"), plan, text)
    assert command == f"pgassay run run/spec.toml --seed 3{options}"
    mode = None if "--mode" not in options else options.split()[1]
    again = parse_spec(text, source="x.toml", beside=Path(), seed=3, mode=mode)
    assert make_plan(again, calibrates=calibrates).trials == plan.trials
