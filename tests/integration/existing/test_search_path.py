"""Functions that another role has put into the search path never run with this user's rights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.server.existing.snapshot import compared, snapshot
from pgassay.server.existing.target import ExistingTarget
from support.runs.command import pgassay
from support.servers.accounts import build_accounts
from support.servers.lab import LabServer, RecordingJournal, scalar
from support.servers.pool import on_newest_version

pytestmark = on_newest_version
TRAPPED = (
    "concat_ws(text, text, text)", "concat_ws(text, text, text, text)", "format(text, text, text)",
    "format(text, text)", "split_part(text, text, integer)", "obj_description(oid, name)",
    "shobj_description(oid, name)", "set_config(text, text, boolean)", "current_setting(text)",
    "pg_get_userbyid(oid)", "substr(text, integer)", "pg_is_in_recovery()", "version()",
)  # fmt: skip
"""As pgassay's own statements call them: some match better than PostgreSQL's own."""


@pytest.fixture
def server(
    lab_server: LabServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LabServer]:
    """A database in which a role without rights has such functions, before pg_catalog too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with lab_server.admin() as session:
        session.execute("CREATE ROLE mallory")
        session.execute("CREATE TABLE public.caught (by_whom text)")
        session.execute("GRANT CREATE ON SCHEMA public TO mallory")
        session.execute("GRANT INSERT ON public.caught TO PUBLIC")
        session.execute("SET ROLE mallory")
        for name in TRAPPED:
            result = "boolean" if name == "pg_is_in_recovery()" else "text"
            trap = (
                f"CREATE FUNCTION public.{name} RETURNS {result} LANGUAGE plpgsql AS $$"
                " BEGIN INSERT INTO public.caught VALUES (current_user); RETURN NULL; END $$"
            )
            session.execute(trap.encode())
        session.execute("RESET ROLE")
        session.execute("ALTER DATABASE lab SET search_path = public, pg_catalog")
    yield lab_server
    with lab_server.admin() as session:
        session.execute("ALTER DATABASE lab RESET search_path")
        caught = scalar(session, "SELECT pg_catalog.count(*) FROM public.caught")
        session.execute("DROP TABLE public.caught")
        session.execute("DROP OWNED BY mallory")
        session.execute("DROP ROLE mallory")
    assert caught == 0


def test_a_run_calls_none_of_them(server: LabServer) -> None:
    journal = RecordingJournal()
    target = ExistingTarget(
        server.dsn(), journal, allow_changes=True, accept=("commits", "sessions")
    )
    target.open()
    before = snapshot(target.parameters())
    try:
        target.prepare(build_accounts, {"work_mem": "7MB"})
        target.reset({"work_mem": "8MB"})
        compared(before)
    finally:
        target.close()
    assert not journal.open


@pytest.mark.parametrize(
    "words", [("doctor",), ("observe", "--duration", "1s", "--out", "seen")], ids=lambda it: it[0]
)
def test_commands_that_only_look_call_none(
    server: LabServer, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = pgassay(*words, server.dsn())
    assert "search_path" not in done.stderr
