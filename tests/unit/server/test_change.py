"""A change is read back as it was written, and a stored object that no run writes is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.errors import RunDirectoryError
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.server.change import (
    Change,
    DatabaseChange,
    KnobChange,
    OwnedServerChange,
    RestartChange,
    SchemaChange,
    SettingChange,
    VariantChange,
    change_of,
    stored,
    visible,
)
from pgassay.server.undo.undo_sql import RELOAD, sql_to_paste, undo_text

EVIL = "x; CREATE ROLE evil SUPERUSER; --"
CHANGES = (
    SettingChange(name="work_mem", value="8MB", found=None, server="7", data="/srv/a"),
    SettingChange(name="a.b$c", value="", found="", scope="role", of='o"dd\n'),
    RestartChange(command="systemctl restart x", data="/srv/a"),
    SchemaChange(database="lab"),
    VariantChange(database="lab", name="b-tree", part=1, parts=2, undo="DROP INDEX one"),
    DatabaseChange(name="pgassay_0123abcd_template"),
    KnobChange(name="block.scheduler", value="none", found="mq-deadline", device="nvme0n1"),
    OwnedServerChange(base="/var/lib/pgassay", name="run-0123456789ab"),
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.kind)
def test_a_change_is_read_back_as_it_was(change: Change) -> None:
    assert change_of(json.loads(json.dumps(stored(change)))) == change
    assert change.what.isprintable()


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    st.sampled_from(["database", "role"]),
)
def test_what_undoes_a_setting_is_one_statement_whatever_its_fields(text: str, scope: Any) -> None:
    change = SettingChange(name="work_mem", value="1", found=text, scope=scope, of=text or "x")
    name = (text or "x").replace('"', '""')
    undo = undo_text(change)
    assert undo.startswith(f'ALTER {scope.upper()} "{name}" SET "work_mem" = ')
    assert undo.partition(" = ")[2].removeprefix(" E") or undo
    literal = undo.rpartition('SET "work_mem" = ')[2].strip()
    body = literal.removeprefix("E")
    assert (body[0], body[-1]) == ("'", "'")
    assert "'" not in body[1:-1].replace("''", "")


SETTING = {"kind": "setting", "id": "1", "name": "work_mem", "value": "8MB", "found": "4MB"}
KNOB = {"kind": "knob", "id": "1", "name": "vm.swappiness", "value": "1", "found": "60"}
OWNED = {"kind": "owned server", "id": "1", "base": "/var/lib", "name": "run-0123456789ab"}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({**SETTING, "name": f"work_mem = 1; {EVIL}"}, "not the name of a setting"),
        ({**SETTING, "name": 'work_mem"'}, "not the name of a setting"),
        ({**SETTING, "found": "1'\narchive_command = 'x"}, "more than one line"),
        ({**SETTING, "found": "\ud800"}, "not text of UTF-8"),
        ({**SETTING, "scope": f"role {EVIL}", "of": "a"}, "is no place"),
        ({**SETTING, "scope": "SYSTEM", "of": ""}, "is no place"),
        ({**SETTING, "scope": "role"}, "is no place"),
        ({**SETTING, "of": "lab"}, "is no place"),
        ({**SETTING, "data": "../etc"}, "no absolute path"),
        ({**SETTING, "data": "/srv/../etc"}, "no absolute path"),
        ({**SETTING, "found": 4}, "found is 4"),
        ({**SETTING, "found": ["a"]}, "found is "),
        ({**SETTING, "undo": EVIL}, "'undo' is no field of kind setting"),
        ({**SETTING, "value": "a\0b"}, "zero byte"),
        ({**SETTING, "id": ""}, "id is missing"),
        ({one: SETTING[one] for one in ("kind", "id", "name", "value")}, "a field .* is missing"),
        ({"kind": "database", "id": "1", "name": "production"}, "not of a database of pgassay"),
        ({"kind": "database", "id": "1", "name": "pgassay_0123abcd; x"}, "not of a database"),
        ({"kind": "variant", "id": "1", "database": "lab", "part": True}, "part is True"),
        ({**KNOB, "name": "/etc/passwd"}, "unknown knob"),
        ({**KNOB, "name": "vm/../../../etc/passwd"}, "unknown knob"),
        ({**KNOB, "name": "vm...etc.passwd"}, "unknown knob"),
        ({**KNOB, "name": "kernel.core_pattern", "found": "|/tmp/evil"}, "cannot be set here"),
        ({**KNOB, "name": "block.scheduler", "device": "../../etc"}, "is no disk"),
        ({**KNOB, "name": "block.scheduler"}, "is no disk"),
        ({**KNOB, "device": "sda"}, "is no disk"),
        ({**KNOB, "found": "60\nx"}, "not one line"),
        ({**OWNED, "name": "../../home/user"}, "not of a server of pgassay's own"),
        ({**OWNED, "name": "run-0123456789ab/.."}, "not of a server of pgassay's own"),
        ({**OWNED, "base": "/var/../home"}, "no absolute path"),
        ({"kind": "\x1b[2J", "id": "1"}, r"kind '\\x1b\[2J' is unknown"),
        ({"kind": "shell", "id": "1", "undo": EVIL}, "kind 'shell' is unknown"),
    ],
)
def test_what_no_run_writes_is_refused_with_file_and_line(
    tmp_path: Path, entry: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "journal.jsonl"
    FileJournal(path).record(CHANGES[0])
    number = path.read_text().count("\n") + 1
    with path.open("a") as file:
        file.write(json.dumps({"event": "change", "at": 1.0, **entry}) + "\n")
    with pytest.raises(RunDirectoryError, match=rf"journal.jsonl, line {number}: .*{reason}") as no:
        open_changes(path)
    assert str(no.value).isprintable()


def test_what_a_terminal_would_act_on_is_shown_escaped() -> None:
    assert visible("a\x1b[31m\n\u202eb é") == "a\\x1b[31m\\n\\u202eb é"


@pytest.mark.parametrize(
    ("database", "named"),
    [
        ("lab", "lab"),
        ("Lab", """-reuse-previous=on "dbname='Lab'\""""),
        ("host=evil", """-reuse-previous=on "dbname='host=evil'\""""),
        ("a'\\\"b", r'''-reuse-previous=on "dbname='a\'\\""b'"'''),
    ],
)
def test_sql_to_paste_connects_to_the_database_of_each_change(database: str, named: str) -> None:
    setting = SettingChange(name="fsync", value="off", found=None)
    drop = 'DROP SCHEMA IF EXISTS "pgassay" CASCADE'
    reset = 'ALTER SYSTEM RESET "fsync"'
    changes = [SchemaChange(database=database), setting]
    assert sql_to_paste(changes, database) == [reset, drop, RELOAD]
    connect = rf"\connect {named} \\ {drop}"
    assert sql_to_paste(changes, "other") == [reset, connect, RELOAD]
