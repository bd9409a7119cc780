"""The command `pgassay`: its subcommands, and how every error ends.

Enters: the command line. Leaves: an exit status; results on stdout, all else on stderr.
Never: shows a traceback, unless PGASSAY_DEBUG is set.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import Annotated, NoReturn

import typer
from typer.exceptions import Abort, TyperException

from pgassay import __version__
from pgassay.cli import demo, doctor, init, listing, load, plan, recover, report, run, schema, show
from pgassay.errors import ExitCode, PgassayError

app = typer.Typer(
    name="pgassay",
    help="Controlled performance experiments on PostgreSQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help"]},
)
for command in (demo, run, plan, report, load, init, listing, show, doctor, recover, schema):
    command.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pgassay {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Show it."),
    ] = False,
) -> None:
    """Controlled performance experiments on PostgreSQL."""


def main() -> NoReturn:
    """Entry point of the console script."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        status = app(standalone_mode=False)
    except PgassayError as error:
        status = _fail(str(error), error.exit_code)
    except Abort:
        status = _fail("stopped", ExitCode.INTERRUPTED)
    except TyperException as error:
        status = _fail(error.format_message(), ExitCode.USAGE)
    except KeyboardInterrupt:
        status = _fail("stopped", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = ExitCode.USAGE
    except Exception as error:
        if os.environ.get("PGASSAY_DEBUG"):
            traceback.print_exc()
        status = _fail(
            f"an error of pgassay itself: {type(error).__name__}: {error};"
            " PGASSAY_DEBUG=1 shows where, please report it",
            ExitCode.USAGE,
        )
    sys.exit(int(status or 0))


def _fail(message: str, code: ExitCode) -> ExitCode:
    one_line = " ".join(message.split())
    print(f"pgassay: {one_line}", file=sys.stderr)
    return code


def _as_interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
