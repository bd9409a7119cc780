"""`pgassay demo`: a real experiment on an embedded server, in about a minute.

Enters: nothing. Leaves: a run directory, a summary, a report.
Never: simulates.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.cli.terminal.options import Json, Plain, Quiet, RunOut


def demo(
    out: RunOut = None,
    no_live: Plain = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a short experiment on a temporary server, to see what pgassay does.

    It takes about a minute, beside other work a little longer. Its question: does an
    index for account statements pay, although every payment must maintain it?
    """
    from importlib.resources import files

    from pgassay.cli.run.execution import conclude, follow
    from pgassay.samples.directory import default_run_path
    from pgassay.spec.parse import parse_spec

    text = (files("pgassay") / "studies" / "demo.toml").read_text("utf-8")
    spec = parse_spec(text, source="demo.toml", beside=Path())
    path = out or default_run_path("demo")
    conclude(follow(spec, path, live=not no_live, quiet=quiet), as_json=as_json)
