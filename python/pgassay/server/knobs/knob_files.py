"""The files behind a host's knobs: where they are, what they say, writing them.

Enters: a host, a knob's name, the data directory whose disk is meant. Leaves: a `Knob`, its value,
or a SettingRejected that names the knob and its allowed values; the lock by which one run at a time
changes knobs. Never: remembers what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.refusals.refusal import SettingRefused, TargetRefused
from pgassay.server.change import BLOCK_DEVICES, HUGE_PAGES, SYSCTL, KnobChange
from pgassay.server.hosts.block_devices import read_mounts, storage_of
from pgassay.server.hosts.host import Host, HostLock, is_there
from pgassay.server.hosts.local import HERE
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.server.host_knobs import BLOCK, HUGE, normal

_CHOSEN = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True)
class Knob:
    """One knob of a host, such as vm.swappiness, and the file that has its value."""

    name: str
    path: Path
    host: Host = HERE
    device: str = ""
    """Of a knob of block: the disk, as /sys/class/block names it."""

    def read(self) -> str:
        """Returns the knob's value as the kernel has it; of a list of words, the one in
        brackets."""
        text = self._text()
        chosen = _CHOSEN.search(text)
        return chosen[1] if chosen else normal(text)

    def words(self) -> tuple[str, ...]:
        """Returns the words that the knob takes, where its file lists them."""
        text = self._text()
        return tuple(text.replace("[", " ").replace("]", " ").split()) if "[" in text else ()

    def check(self, value: str) -> None:
        """Raises SettingRejected for a value that could not be written or read back; changes
        nothing."""
        words = self.words()
        self.read()
        if words and value not in words:
            raise SettingRefused(
                self.name,
                "knob-not-one-of",
                value=value,
                host=self.host.label,
                known=", ".join(words),
            )
        try:
            # Opened without a byte written, the kernel changes nothing.
            self.host.check_writable(self.path)
        except OSError as error:
            raise SettingRefused(
                self.name,
                "knob-not-writable",
                path=self.path,
                why=error.strerror,
                instead=_as_root(self.host),
            ) from None

    def write(self, value: str) -> None:
        """Writes the value with one call, as the kernel requires."""
        try:
            self.host.write(self.path, value)
        except OSError as error:
            words = self.words()
            allowed = f"; it knows {', '.join(words)}" if words else ""
            raise SettingRefused(
                self.name,
                "knob-value-refused",
                value=value,
                why=error.strerror,
                allowed=allowed,
                path=self.path,
            ) from None

    def _text(self) -> str:
        try:
            return self.host.read(self.path).decode("ascii", errors="replace")
        except OSError as error:
            raise SettingRefused(
                self.name, "knob-unreadable", path=self.path, why=error.strerror
            ) from None


def find_knob(name: str, data_directory: Path | None, host: Host = HERE) -> Knob:
    """Returns the knob of that name on a host; raises SettingRejected where there is none."""
    if name.startswith(BLOCK):
        return _queue_knob(name, data_directory, host)
    if name.startswith(HUGE):
        knob = Knob(name, HUGE_PAGES / name.removeprefix(HUGE), host)
        beside = HUGE
    else:
        knob = Knob(name, SYSCTL / name.replace(".", "/"), host)
        beside = name.rpartition(".")[0] + "."
    if not is_there(host, knob.path):
        near = _near(name, knob.path.parent, beside, host)
        raise SettingRefused(name, "no-such-knob", host=host.label, path=knob.path, near=near)
    return knob


def knob_of(change: KnobChange, host: Host = HERE) -> Knob:
    """The knob of a journaled change: its file is found by its name, like that of any other."""
    return Knob(change.name, change.path, host, change.device)


def device_of(directory: Path, host: Host = HERE) -> Path:
    """Returns the disk that holds a directory, as its folder in /sys."""
    storage = storage_of(directory, host, read_mounts(host))
    if not storage.devices:
        raise TargetRefused("no-block-device", directory=directory, reason=storage.reason)
    device = host.resolve(BLOCK_DEVICES / storage.devices[0].replace("/", "!"))
    return device.parent if is_there(host, device / "partition") else device


def refusals_on(
    wanted: Mapping[str, Sequence[str]], data_directory: Path | None, host: Host = HERE
) -> list[str]:
    """Returns a line for each knob that a host would refuse; for those of the disk only if the data
    directory is known."""
    found = []
    for name, values in wanted.items():
        if name.startswith(BLOCK) and data_directory is None:
            continue
        try:
            for value in values:
                find_knob(name, data_directory, host).check(value)
        except TargetError as error:
            where = f"on {host.name}" if host.name else "here"
            found.append(f"a run {where} would be refused: {error}")
    return found


def _queue_knob(name: str, data_directory: Path | None, host: Host) -> Knob:
    if data_directory is None:
        raise SettingRefused(name, "knob-of-a-hidden-disk")
    try:
        queue = device_of(data_directory, host) / "queue"
    except TargetRefused as refused:
        raise SettingRefused(name, refused.code, **refused.values) from None
    except OSError as error:
        raise SettingRefused(
            name, "disk-not-found", folder=data_directory, why=error.strerror
        ) from None
    knob = Knob(name, queue / name.removeprefix(BLOCK), host, queue.parent.name)
    if not is_there(host, knob.path):
        raise SettingRefused(name, "no-such-queue-knob", device=queue.parent.name, path=knob.path)
    return knob


def _near(name: str, folder: Path, prefix: str, host: Host) -> str:
    try:
        return did_you_mean(name, (prefix + one for one in host.names(folder)), list_up_to=0)
    except OSError:
        return ""


def _as_root(host: Host) -> str:
    if host.name:
        return "log in there as root, or give target.sudo = true"
    return "run pgassay as root on the host itself"


LOCKED = Path("/proc/sys/vm")


def take_lock(host: Host = HERE) -> HostLock:
    """Locks a host's knobs for one run; raises TargetError where another run has the lock."""
    lock = host.lock(LOCKED)
    if lock is None:
        raise TargetRefused("knobs-in-use", host=host.label)
    return lock


@contextmanager
def locked(host: Host = HERE) -> Iterator[None]:
    """Holds the lock on a host's knobs while the block lasts."""
    lock = take_lock(host)
    try:
        yield
    finally:
        lock.release()
