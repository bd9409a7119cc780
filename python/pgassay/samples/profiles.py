"""The profiles of a run (RUN/profiles/), or those that `pgassay profile` leaves.

Enters: profiles, and the files made of them. Leaves: those on disk, and read back. Never: draws.

    RUN/profiles/  profiles.json
                   ARM/  cpu.folded  cpu.svg  cpu-inline.svg  cpu.speedscope.json  cpu.pb.gz
                   BASELINE-ARM.cpu.svg  BASELINE-ARM.cpu-inline.svg
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pgassay.durable import make_directory
from pgassay.notes import Note
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.directory import StoredDirectory
from pgassay.samples.forms.profiles import ProfilesFile
from pgassay.samples.layout import PROFILES_INDEX
from pgassay.samples.storage.files import clear_errors, write_atomically
from pgassay.samples.storage.json_files import read_text, stored_file, without_secrets
from pgassay.trials.profile.model import Profile

_STACK = re.compile(r" [0-9]{1,18}$")


@dataclass(frozen=True)
class StoredProfiles:
    """What was profiled of a run, by arm, and what could not be."""

    of_arm: Mapping[str, tuple[Profile, ...]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def of_kind(self, arm: str, kind: str) -> Profile | None:
        """Returns one profile of an arm."""
        return next((one for one in self.of_arm.get(arm, ()) if one.kind == kind), None)


class ProfileDirectory(StoredDirectory):
    """The folder of profiles in a run directory, or one of its own."""

    KIND, MARK = "stored profile", PROFILES_INDEX

    def write_files(self, files: Mapping[str, bytes], arm: str = "") -> None:
        """Files of one arm, or of none."""
        folder = self.path / arm
        with clear_errors(folder):
            make_directory(folder, parents=True, exist_ok=True)
        for name, content in files.items():
            write_atomically(folder / name, content)

    def finish(self, of_arm: Mapping[str, Sequence[Profile]], notes: Sequence[Note]) -> None:
        """Writes what the files do not say, which completes the profiles."""
        self.write_files({self.MARK: without_secrets(ProfilesFile.taken(of_arm, notes))})

    def read(self) -> StoredProfiles:
        """Reads all profiles; nothing where there is none."""
        if not self.has(self.MARK):
            return StoredProfiles()
        found = stored_file(self.path / self.MARK, ProfilesFile)
        of_arm: dict[str, tuple[Profile, ...]] = {}
        for one in found.profiles:
            stacks = _stacks(self.path / one.arm / f"{one.kind}.folded")
            of_arm[one.arm] = (*of_arm.get(one.arm, ()), one.with_stacks(stacks))
        return StoredProfiles(of_arm, found.notes)

    def text(self, name: str) -> str:
        """Reads one of the files; empty where it is not there."""
        return self.read_text(name) if self.has(name) else ""


def _stacks(path: Path) -> str:
    stacks = read_text(path)
    if not all(_STACK.search(line) for line in stacks.splitlines()):
        raise DirectoryRefused("not-a-stack", path)
    return stacks
