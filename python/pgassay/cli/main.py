"""The command `pgassay`: its subcommands, and how every error ends.

Enters: the command line. Leaves: an exit status; results on stdout, all else on stderr.
Never: shows a traceback, unless PGASSAY_DEBUG is set.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import Annotated, NoReturn, TextIO

import typer
from typer.exceptions import Abort, TyperException

from pgassay.analysis.reading.plain_text import visible
from pgassay.cli import completion
from pgassay.cli.commands import Commands
from pgassay.errors import ExitCode, PgassayError
from pgassay.interruption import SIGNALS, handle_signals
from pgassay.refusals.refusal import SetupRefused
from pgassay.spec.secrets.redaction import redacted

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Of a write without the name of a file, which is one to standard output: files of ours are written
where such errors get one (`samples/storage/files.py`)."""

app = typer.Typer(
    name="pgassay",
    help="Controlled performance experiments on PostgreSQL.",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from pgassay.commit import version_line

        typer.echo(version_line())
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Show version."
        ),
    ] = False,
) -> None:
    """Controlled performance experiments on PostgreSQL."""


def main() -> NoReturn:
    """Run the command line to its exit status."""
    handle_signals()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    status = _run()
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # nothing is left to interrupt
    error = flush(sys.stdout)
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        status = _fail_for_output(error)
    flush(sys.stderr)
    sys.exit(int(status))


def flush(stream: TextIO) -> Exception | None:
    """Write what is left of a stream; returns why it could not. What is not taken then goes
    nowhere: Python would try again at its exit, and end with 120."""
    try:
        stream.flush()
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return error
    return None


def _run() -> int:
    completion.prepare()
    try:
        status = app(standalone_mode=False)
    except PgassayError as error:
        return _fail(str(error), error.exit_code, error.excerpt)
    except (KeyboardInterrupt, Abort):
        status = ExitCode.INTERRUPTED
    except TyperException as error:
        return _fail(_in_words(error), ExitCode.USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.USAGE
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            return _fail_for_output(error)
        if os.environ.get("PGASSAY_DEBUG"):
            print(redacted(traceback.format_exc()), file=sys.stderr)
        sqlstate = getattr(error, "sqlstate", None)
        if isinstance(sqlstate, str):
            # A driver's error: the server has refused a statement, or somebody has cancelled it.
            return _fail(
                f"the server refused a statement of pgassay ({sqlstate}): {error};"
                " PGASSAY_DEBUG=1 shows where",
                ExitCode.USAGE,
            )
        return _fail(
            f"an error of pgassay itself: {type(error).__name__}: {error};"
            " PGASSAY_DEBUG=1 shows where, please report it",
            ExitCode.USAGE,
        )
    if status == ExitCode.INTERRUPTED:
        return _fail("stopped", ExitCode.INTERRUPTED)
    return int(status or ExitCode.DONE)


def _in_words(error: TyperException) -> str:
    """The parser's own words and, where they have no advice, where to look."""
    words = error.format_message()
    if words.endswith("?"):  # such as: did you mean `run`?
        return words
    context = getattr(error, "ctx", None)
    command = "pgassay" if context is None else context.command_path
    return str(SetupRefused("command-line", words=words.rstrip("."), command=command))


def _fail(message: str, code: ExitCode, excerpt: str = "") -> ExitCode:
    with suppress(OSError):  # the terminal may be gone
        if message:
            line = f"pgassay: {_with_urls(' '.join(message.split()))}"
            print(visible(redacted(line)), file=sys.stderr)
        if excerpt:
            print(visible(redacted(excerpt)), file=sys.stderr)
    return code


def _fail_for_output(error: OSError) -> int:
    refusal = SetupRefused("output-not-written", why=error.strerror)
    return _fail(str(refusal), refusal.exit_code)


def _with_urls(text: str) -> str:
    """Returns a text with URLs where it names copies of runs in stores."""
    if "pgassay/runs/" not in text:  # of the folder of copies: others need not import the room
        return text
    from pgassay.stores.address import with_urls

    return with_urls(text)
