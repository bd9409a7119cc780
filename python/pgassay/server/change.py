"""One change to a server or its host, as journal and change record keep it.

Enters: what is about to be changed, or a stored object. Leaves: a `Change` of one kind, whose
fields were checked, or a ValueError with the reason. Never: holds a command to run; what undoes a
change is made from its fields (`undo/undo_sql.py`), and so are its texts for people.

The undo of a variant of the schema is the one exception: it is the user's own SQL.
"""

from __future__ import annotations

import re
import shlex
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from pgassay.errors import SpecError
from pgassay.spec.server.access import SettingsAt
from pgassay.spec.server.host_knobs import BLOCK, HUGE, check_name

SYSCTL = Path("/proc/sys")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")
BLOCK_DEVICES = Path("/sys/class/block")

_SETTING = re.compile(r"[^\W\d][\w$]*(\.[^\W\d][\w$]*)*")
_DATABASE = re.compile(r"pgassay_[0-9a-f]{8}(_template)?")
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_!.:-]*")
_WORKSPACE = re.compile(r"run-[0-9a-f]{12}")
_TYPES = {"str": (str,), "str | None": (str, type(None)), "int": (int,), "SettingsAt": (str,)}
"""Annotation of a field → what a stored object may have there."""


def visible(text: str) -> str:
    """Returns text of a stored file as one line that no terminal acts on: what is not printable is
    escaped, and nothing is left out."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change that a run makes to a server or its host; the base of the kinds of change."""

    kind: ClassVar[str]
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    server: str = ""
    """System identifier of its cluster, empty where unknown; of a host its name and boot."""
    reached: str = ""
    """The address of the server: host:port."""
    dsn: str = ""
    """Of a fleet: which of its servers, by the connection string in the experiment file."""
    journal: str = ""
    """In the change record: the journal of the run that made the change,"""
    run: str = ""
    """and the name drawn for that journal: another may lie at its path by now."""

    def __post_init__(self) -> None:
        for one in fields(self):
            if "\0" in str(getattr(self, one.name)):
                raise ValueError(f"{one.name} has a zero byte")
        self._check()

    @property
    def what(self) -> str:
        """Returns the change in words."""
        raise NotImplementedError

    def _check(self) -> None:
        """ValueError where a field could not be a run's own."""

    @property
    def _there(self) -> str:
        return visible(f" at {self.reached}") if self.reached else ""


@dataclass(frozen=True, kw_only=True)
class ServerChange(Change):
    """A change whose undoing may restart the server; the fields are empty where it may not."""

    host: str = ""
    """The host, as ssh knows it; empty for the one pgassay ran on."""
    data: str = ""
    """The server's data directory,"""
    log: str = ""
    """and the file that it writes its log to, where it is one."""

    def _check(self) -> None:
        for name in ("data", "log"):
            path = getattr(self, name)
            if path and (not path.startswith("/") or ".." in Path(path).parts):
                raise ValueError(f"{name} is no absolute path")


@dataclass(frozen=True, kw_only=True)
class SettingChange(ServerChange):
    """A setting changed by ALTER SYSTEM, ALTER DATABASE or ALTER ROLE, with the value found
    before."""

    kind = "setting"
    name: str
    value: str
    """The value we write,"""
    found: str | None
    """the value that was written there before, if any,"""
    scope: SettingsAt = "server"
    """and where: in postgresql.auto.conf, at a database or at a role,"""
    of: str = ""
    """and of which."""

    def _check(self) -> None:
        super()._check()
        if not _SETTING.fullmatch(self.name):
            raise ValueError(f"name '{visible(self.name)}' is not the name of a setting")
        everywhere = self.scope == "server"
        if self.scope not in ("server", "database", "role") or bool(self.of) == everywhere:
            raise ValueError(f"scope '{visible(self.scope)}' of '{visible(self.of)}' is no place")
        try:
            f"{self.value}{self.found}{self.of}".encode()
        except UnicodeEncodeError:
            raise ValueError(f"the value of {self.name} is not text of UTF-8") from None
        if everywhere and "\n" in f"{self.value}{self.found}":
            raise ValueError(f"the value of {self.name} has more than one line")

    @property
    def what(self) -> str:
        if not self.of:
            return f"setting {self.name}" + (f" of {visible(self.reached)}" if self.reached else "")
        return f"setting {self.name} of {self.scope} {visible(self.of)}{self._there}"


@dataclass(frozen=True, kw_only=True)
class RestartChange(ServerChange):
    """A note that a run may have left its server down while restarting it; it changes nothing
    itself."""

    kind = "restart"
    command: str
    """What a person would type to start it."""

    @property
    def what(self) -> str:
        return f"restart of the server{self._there}"


@dataclass(frozen=True, kw_only=True)
class SchemaChange(Change):
    """The schema `pgassay` that a run makes for its workload's tables."""

    kind = "schema"
    database: str

    @property
    def what(self) -> str:
        return f"schema pgassay of database {visible(self.database)}{self._there}"


@dataclass(frozen=True, kw_only=True)
class VariantChange(Change):
    """One statement of a variant of the schema, with the user's SQL that undoes it."""

    kind = "variant"
    database: str
    name: str
    part: int
    parts: int
    undo: str
    """The user's SQL that takes it back."""

    @property
    def what(self) -> str:
        which = f" ({self.part} of {self.parts})" if self.parts > 1 else ""
        return f"schema variant {visible(self.name)}{which}{self._there}"


@dataclass(frozen=True, kw_only=True)
class DatabaseChange(Change):
    """A database that a run makes, by the name that it drew."""

    kind = "database"
    name: str

    def _check(self) -> None:
        if not _DATABASE.fullmatch(self.name):
            raise ValueError(f"name '{visible(self.name)}' is not of a database of pgassay's")

    @property
    def what(self) -> str:
        return f"database {self.name}{self._there}"


@dataclass(frozen=True, kw_only=True)
class KnobChange(Change):
    """A knob of the host that a run writes, with the value found before; both as the kernel writes
    them."""

    kind = "knob"
    name: str
    value: str
    found: str
    host: str = ""
    """The host, as ssh knows it; empty for the one pgassay ran on."""
    device: str = ""
    """Of a knob of block: the disk, as /sys/class/block names it."""

    def _check(self) -> None:
        try:
            check_name("name", self.name)
        except SpecError as error:
            raise ValueError(str(error)) from None
        if bool(self.device) != self.name.startswith(BLOCK) or (
            self.device and not _DEVICE.fullmatch(self.device)
        ):
            raise ValueError(f"device '{visible(self.device)}' is no disk of {self.name}")
        if not f"{self.value}{self.found}".isprintable():
            raise ValueError(f"a value of {self.name} is not one line of text")

    @property
    def what(self) -> str:
        return f"{self.name} of {visible(self.host) or 'this host'}"

    @property
    def path(self) -> Path:
        """The file of the knob, derived from its name alone."""
        if self.name.startswith(BLOCK):
            return BLOCK_DEVICES / self.device / "queue" / self.name.removeprefix(BLOCK)
        if self.name.startswith(HUGE):
            return HUGE_PAGES / self.name.removeprefix(HUGE)
        return SYSCTL / self.name.replace(".", "/")


@dataclass(frozen=True, kw_only=True)
class OwnedServerChange(Change):
    """The directory of a server that a run makes and removes."""

    kind = "owned server"
    base: str
    """The folder of such directories,"""
    name: str
    """and the name that the run drew."""

    def _check(self) -> None:
        if not self.base.startswith("/") or ".." in Path(self.base).parts:
            raise ValueError("base is no absolute path")
        if not _WORKSPACE.fullmatch(self.name):
            raise ValueError(f"name '{visible(self.name)}' is not of a server of pgassay's own")

    @property
    def directory(self) -> Path:
        return Path(self.base) / self.name

    @property
    def what(self) -> str:
        return f"directory of an owned server: {visible(str(self.directory))}"

    @property
    def by_hand(self) -> str:
        """The shell command by which a person removes the directory."""
        ends = ("", ".owner", ".aside")
        return shlex.join(["rm", "-rf", *(f"{self.directory}{end}" for end in ends)])


_KINDS: Mapping[str, type[Change]] = {
    one.kind: one
    for one in (
        SettingChange,
        RestartChange,
        SchemaChange,
        VariantChange,
        DatabaseChange,
        KnobChange,
        OwnedServerChange,
    )
}


def stored(change: Change) -> dict[str, Any]:
    """Returns a change as a JSON object, which `change_of` reads back."""
    values = {one.name: getattr(change, one.name) for one in fields(change) if one.default != ""}
    given = {one.name: getattr(change, one.name) for one in fields(change) if one.default == ""}
    return {"kind": change.kind, **values, **{name: text for name, text in given.items() if text}}


def change_of(entry: Mapping[str, Any]) -> Change:
    """Returns the change that a JSON object stores; raises ValueError where it stores none."""
    named = str(entry.get("kind"))
    kind = _KINDS.get(named)
    if kind is None:
        raise ValueError(f"kind '{visible(named)}' is unknown")
    known = {one.name: str(one.type) for one in fields(kind)}
    given = {name: value for name, value in entry.items() if name != "kind"}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"'{visible(name)}' is no field of kind {kind.kind}")
        if type(value) not in _TYPES[known[name]]:
            raise ValueError(f"{name} is {visible(repr(value))}")
    if not given.get("id"):
        raise ValueError("id is missing")
    try:
        return kind(**given)
    except TypeError:
        raise ValueError(f"a field of kind {kind.kind} is missing") from None
