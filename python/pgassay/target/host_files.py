"""The files behind the host's knobs: where they are, what they say, writing them.

Enters: a knob's name, the data directory whose disk is meant. Leaves: a `Knob`, its value, or a
SettingRejected that names the knob and its allowed values. Never: remembers what was found.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pgassay.errors import SettingRejected, TargetError
from pgassay.spec.host_knobs import BLOCK, HUGE, normal
from pgassay.spec.suggest import did_you_mean

SYSCTL = Path("/proc/sys")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")
BLOCK_DEVICES = Path("/sys/dev/block")
_CHOSEN = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True)
class Knob:
    """One knob of this host; `name` as users write it."""

    name: str
    path: Path

    def read(self) -> str:
        """Its value as the kernel has it; of a list of words, the one in brackets."""
        text = self._text()
        chosen = _CHOSEN.search(text)
        return chosen[1] if chosen else normal(text)

    def words(self) -> tuple[str, ...]:
        """The words it knows, where it lists them."""
        text = self._text()
        return tuple(text.replace("[", " ").replace("]", " ").split()) if "[" in text else ()

    def check(self, value: str) -> None:
        """Refuse what could not be written or read back. Changes nothing."""
        words = self.words()
        self.read()
        if words and value not in words:
            raise SettingRejected(
                self.name, f"{self.name} = {value}: this host knows {', '.join(words)}"
            )
        try:
            # os.access says yes to root in a container whose /proc/sys is read-only. Opened
            # without a byte written, the kernel changes nothing.
            os.close(os.open(self.path, os.O_WRONLY | os.O_CLOEXEC))
        except OSError as error:
            raise SettingRejected(
                self.name,
                f"{self.name}: {self.path} may not be written ({error.strerror}); run pgassay as "
                "root on the host itself, or leave the knob out",
            ) from None

    def write(self, value: str) -> None:
        """One write, as the kernel wants it."""
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(descriptor, value.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            words = self.words()
            allowed = f"; it knows {', '.join(words)}" if words else ""
            raise SettingRejected(
                self.name,
                f"{self.name} = {value}: the kernel refuses it: {error.strerror}{allowed} "
                f"({self.path})",
            ) from None

    def _text(self) -> str:
        try:
            return self.path.read_text("ascii", errors="replace")
        except OSError as error:
            raise SettingRejected(
                self.name, f"{self.name}: {self.path} cannot be read ({error.strerror})"
            ) from None


def find_knob(name: str, data_directory: Path | None) -> Knob:
    """The knob of that name on this host."""
    if name.startswith(BLOCK):
        return _queue_knob(name, data_directory)
    if name.startswith(HUGE):
        knob = Knob(name, HUGE_PAGES / name.removeprefix(HUGE))
        beside = HUGE
    else:
        knob = Knob(name, SYSCTL / name.replace(".", "/"))
        beside = name.rpartition(".")[0] + "."
    if not knob.path.is_file():
        raise SettingRejected(
            name, f"{name}: this host has no {knob.path}{_near(name, knob.path.parent, beside)}"
        )
    return knob


def knob_at(path: str, name: str) -> Knob:
    """A knob that a journal speaks of; only files that knobs can be are taken."""
    allowed = (SYSCTL, HUGE_PAGES, Path("/sys/devices"), Path("/sys/block"))
    if not any(Path(os.path.normpath(path)).is_relative_to(root) for root in allowed):
        raise TargetError(f"{path} is not a knob of the host; the journal was edited")
    return Knob(name, Path(path))


def device_of(directory: Path) -> Path:
    """The disk that holds a directory, as its folder in /sys."""
    number = directory.stat().st_dev
    major, minor = os.major(number), os.minor(number)
    entry = BLOCK_DEVICES / f"{major}:{minor}"
    if not entry.exists():
        # btrfs and the like have a number of their own; the mount table knows the device.
        source = _mounted_from(f"{major}:{minor}")
        try:
            number = Path(source).stat().st_rdev if source.startswith("/dev/") else 0
        except OSError:
            number = 0
        entry = BLOCK_DEVICES / f"{os.major(number)}:{os.minor(number)}"
        if number == 0 or not entry.exists():
            raise TargetError(
                f"{directory} lies on {source or 'a file system'} without a block device of its "
                "own; put the data on a disk (PGASSAY_DATA), or leave out the knobs of block."
            )
    device = entry.resolve()
    return device.parent if (device / "partition").exists() else device


def _queue_knob(name: str, data_directory: Path | None) -> Knob:
    if data_directory is None:
        raise SettingRejected(
            name,
            f"{name}: this user may not see where the server's data directory is; "
            "GRANT pg_read_all_settings to it",
        )
    try:
        queue = device_of(data_directory) / "queue"
    except TargetError as error:
        raise SettingRejected(name, f"{name}: {error}") from None
    except OSError as error:
        raise SettingRejected(name, f"{name}: {data_directory}: {error.strerror}") from None
    knob = Knob(name, queue / name.removeprefix(BLOCK))
    if not knob.path.is_file():
        raise SettingRejected(
            name, f"{name}: {queue.parent.name}, the disk of the data, has no {knob.path}"
        )
    return knob


def _mounted_from(number: str) -> str:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        if fields.split()[2] == number:
            return rest.split()[1]
    return ""


def _near(name: str, folder: Path, prefix: str) -> str:
    try:
        return did_you_mean(name, (prefix + path.name for path in folder.iterdir()), list_up_to=0)
    except OSError:
        return ""
