"""`pgassay recover`: undo what a killed run left changed on its server.

Enters: a run directory, or a server with the mark of a run. Leaves: the server as the run found it,
and the journal saying so. Never: disturbs a run that is still going on, or acts for another user's
directory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgassay.cli.connection import connection_string
from pgassay.cli.terminal.options import option
from pgassay.refusals.refusal import SetupRefused

if TYPE_CHECKING:
    from pgassay.server.change import Change
    from pgassay.server.comparison import Comparison


def recover(
    run: Annotated[
        Path | None, typer.Argument(help="A run directory or its URL.", show_default=False)
    ] = None,
    server: Annotated[
        str | None,
        option("--server", "Undo what the marks on this server say; a connection string."),
    ] = None,
    dry_run: Annotated[bool, option("--dry-run", "Say what would be done, and stop.")] = False,
    yes: Annotated[
        bool, option("--yes -y", "Do also what your own record of changes does not have.")
    ] = False,
) -> None:
    """Undo what a killed run left changed on its server.

    A run directory is code: recover refuses one that others own or may write, and asks
    before it does what your own record of changes does not have. Without the directory,
    --server undoes what the run has written on the server itself.
    """
    if server is not None and run is None:
        _recover_server(server, dry_run=dry_run, yes=yes)
    elif run is not None and server is None:
        _recover_run(run, dry_run=dry_run, yes=yes)
    else:
        raise SetupRefused("nothing-to-recover")


def _recover_run(run: Path, *, dry_run: bool, yes: bool) -> None:
    from pgassay.cli.terminal.consent import print_acts, refuse_without_consent
    from pgassay.cli.terminal.console import err, out, warn
    from pgassay.recovery import left_changed
    from pgassay.samples.address import local_path, url_of
    from pgassay.samples.ownership.own_runs import refuse_others
    from pgassay.samples.ownership.unfinished import locked
    from pgassay.samples.run_directory import RunDirectory
    from pgassay.stores.mirrored_run import MirroredRun

    url = url_of(run)
    if url is None:
        directory = RunDirectory.open(local_path(run))
    else:
        directory = MirroredRun.of_this_machine(url, warn)
    refuse_others(directory.path)
    with locked(directory.path):
        left = left_changed(directory)
        if dry_run:
            print_acts(left.acts(), out)
            return
        refuse_without_consent(left.acts(), yes=yes)
        said: list[Comparison] = []
        left_alone = left.undo(said.append)
        if isinstance(directory, MirroredRun):
            err.print(directory.finish(), markup=False)
    if not left.changes:
        out.print("nothing to undo")
    _print_undone(left.changes[::-1], left_alone, said)


def _recover_server(dsn: str, *, dry_run: bool, yes: bool) -> None:
    from pgassay.cli.terminal.consent import print_acts, refuse_without_consent
    from pgassay.cli.terminal.console import out
    from pgassay.errors import RestoreFailed
    from pgassay.refusals.refusal import RestoreRefused
    from pgassay.server.connection.session import resolve
    from pgassay.server.recovery.marked import MarkedServer, acts_of_mark

    where = resolve(connection_string(dsn, None, None, None))
    with MarkedServer(where) as marked:
        acts = [act for found in marked.marks for act in acts_of_mark(found)]
        if dry_run:
            print_acts(acts, out)
            _print_undone((), [*map(str, marked.unread)], ())
            return
        refuse_without_consent(acts, yes=yes)
        # One forged mark keeps no other from being undone.
        failed: list[object] = [*marked.unread]
        if not marked.marks and not failed:
            out.print("nothing to undo")
        for found in marked.marks:
            try:
                done = marked.undo(found)
            except RestoreFailed as error:
                failed.append(error)
                continue
            _print_undone(done.changes, done.notes, [done.comparison])
            failed.extend([done.by_hand] if done.by_hand else [])
        if failed:
            raise RestoreRefused("not-put-back-each", problems=tuple(failed))


def _print_undone(
    changes: Sequence[Change], left_alone: Sequence[str], compared: Sequence[Comparison]
) -> None:
    from pgassay.cli.terminal.console import out, plain

    for what in dict.fromkeys(change.what for change in changes):
        out.print(f"undone: {plain(what)}")
    for note in left_alone:
        out.print(f"[yellow]note:[/yellow] {plain(note)}")
    for comparison in compared:
        out.print(plain(str(comparison)))
