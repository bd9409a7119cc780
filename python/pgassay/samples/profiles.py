"""The profiles of a run: RUN/profiles/.

Enters: profiles, and the files made of them. Leaves: those on disk, and read back. Never: draws.

    RUN/profiles/  profiles.json
                   ARM/  cpu.folded  cpu.svg  cpu-inline.svg  cpu.speedscope.json  cpu.pb.gz
                   BASELINE-ARM.cpu.svg  BASELINE-ARM.cpu-inline.svg
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from pgassay.durable import make_directory
from pgassay.errors import RunDirectoryError
from pgassay.samples.storage.files import clear_errors, write_atomically
from pgassay.samples.storage.json_files import as_json, checked_file, read_text
from pgassay.samples.storage.stored_fields import PROFILES_SCHEMA
from pgassay.trials.profile.model import Kind, Profile

PROFILES, INDEX = "profiles", "profiles.json"
_STACKS = "stacks"
_STACK = re.compile(r" [0-9]{1,18}$")
_FOLDER = re.compile(r"[\w-]*")


@dataclass(frozen=True)
class StoredProfiles:
    """What was profiled of a run, by arm, and what could not be."""

    of_arm: Mapping[str, tuple[Profile, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def of_kind(self, arm: str, kind: str) -> Profile | None:
        """One profile of an arm."""
        return next((one for one in self.of_arm.get(arm, ()) if one.kind == kind), None)


class ProfileDirectory:
    """The folder of profiles in a run directory, or one of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write_files(self, files: Mapping[str, bytes], arm: str = "") -> None:
        """Files of one arm, or of none."""
        folder = self.path / arm
        with clear_errors(folder):
            make_directory(folder, parents=True, exist_ok=True)
        for name, content in files.items():
            write_atomically(folder / name, content)

    def finish(self, of_arm: Mapping[str, Sequence[Profile]], notes: Sequence[str]) -> None:
        """What the files do not say; with this the profiles are there."""
        described = [_described(arm, one) for arm, some in of_arm.items() for one in some]
        index = {"schema": PROFILES_SCHEMA, "profiles": described, "notes": list(notes)}
        self.write_files({INDEX: as_json(index)})

    def read(self) -> StoredProfiles:
        """All of it; nothing where there is none."""
        index = self.path / INDEX
        if not index.is_file():
            return StoredProfiles()
        found = checked_file(index, PROFILES_SCHEMA)
        of_arm: dict[str, tuple[Profile, ...]] = {}
        for one in found["profiles"]:
            arm = one.get("arm") or ""
            if one["kind"] not in get_args(Kind) or not _FOLDER.fullmatch(arm):
                raise RunDirectoryError(f"{index}: is damaged: no profile has this kind and arm")
            of_arm[arm] = (*of_arm.get(arm, ()), _profile(self.path / arm, one))
        return StoredProfiles(of_arm, tuple(found["notes"]))

    def text(self, name: str) -> str:
        """One of the files; empty where it is not there."""
        path = self.path / name
        return read_text(path) if path.is_file() else ""


def _described(arm: str, profile: Profile) -> dict[str, Any]:
    described = {name: value for name, value in asdict(profile).items() if name != _STACKS}
    return {"arm": arm, **described}


def _profile(folder: Path, described: Mapping[str, Any]) -> Profile:
    path = folder / f"{described['kind']}.folded"
    known = {one.name for one in fields(Profile)} - {_STACKS, "notes"}
    given = {name: value for name, value in described.items() if name in known}
    stacks = read_text(path)
    if not all(_STACK.search(line) for line in stacks.splitlines()):
        raise RunDirectoryError(f"{path}: is damaged: a line is no stack with a count")
    return Profile(**given, stacks=stacks, notes=tuple(described["notes"]))
