"""The settings and libraries of a server that a copy of it takes over.

Enters: all settings of the server; what the programs of the copy have. Leaves: a `Carried`, with a
caveat for each library, and for the settings, that its programs do not know. Never: carries a
setting that names a place or another system: left_out.toml lists these, with reasons.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.notes import Note
from pgassay.server.protocol import Context, Setting

OF_THE_SERVER = frozenset({"configuration file", "command line", "environment variable"})
"""Values of pg_settings.source that hold for every session."""
LIBRARIES = ("shared_preload_libraries", "session_preload_libraries", "local_preload_libraries")


@dataclass(frozen=True)
class Carried:
    """The settings and libraries of the source that a copy of it takes over, and those that it
    leaves out."""

    settings: Mapping[str, str]
    left_out: tuple[str, ...] = ()
    """Names of settings that were set and are not taken over."""
    caveats: tuple[Note, ...] = ()


def carry(
    known: Mapping[str, Setting],
    has_library: Callable[[str], bool],
    takes: Callable[[str, str], bool] = lambda name, value: True,
) -> Carried:
    """Chooses, among all settings of a server, those that its copy takes over; `has_library` and
    `takes` ask the programs of the copy for a library, and for a setting with its value."""
    chosen: dict[str, str] = {}
    without: list[str] = []
    unknown: list[str] = []
    caveats: list[Note] = []
    for name, setting in known.items():
        if setting.context is Context.INTERNAL or not _is_set(setting):
            continue
        if any(fnmatchcase(name, pattern) for pattern in left_out()["settings"]):
            without.append(name)
            continue
        if not takes(name, setting.value):
            unknown.append(name)
            continue
        chosen[name] = setting.value
        if name in LIBRARIES:
            kept = []
            for library in _names(setting.value):
                reason = _why_not(library, has_library)
                if reason is not None:
                    caveats.append(
                        Note.of(
                            "server/copied/library-left-out",
                            name=name,
                            library=library,
                            reason=reason,
                        )
                    )
                else:
                    kept.append(library)
            chosen[name] = ", ".join(f'"{library}"' for library in kept)
    if unknown:
        caveats.append(Note.of("server/copied/settings-unknown", names=tuple(unknown)))
    return Carried(chosen, (*without, *unknown), tuple(caveats))


def _is_set(setting: Setting) -> bool:
    # A control session sets a few for itself; their value is still that of the server.
    own = setting.source == "session" and setting.value != (setting.boot_val or "")
    return own or setting.source in OF_THE_SERVER


def _why_not(library: str, has_library: Callable[[str], bool]) -> Note | None:
    short = library.rpartition("/")[2].removesuffix(".so")
    reason = left_out()["libraries"].get(short)
    if reason is not None:
        return Note(f"server/copied/{reason}")
    return None if has_library(library) else Note("server/copied/no-such-library")


def _names(value: str) -> Iterator[str]:
    for part in value.split(","):
        name = part.strip().strip('"')
        if name:
            yield name


@cache
def left_out() -> Mapping[str, Any]:
    """Returns the tables of left_out.toml: why a setting or library is not taken over, by name, and
    the names of extensions that are taken over though they reach other systems."""
    return tomllib.loads((files(__package__) / "left_out.toml").read_text("utf-8"))


def reaching_extensions() -> Collection[str]:
    """Returns the extensions whose functions open connections of their own."""
    return frozenset(left_out()["extensions"]["reaching"])
