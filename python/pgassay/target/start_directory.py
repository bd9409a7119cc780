"""The directory in which a server was started, where its options have paths that begin there.

Enters: the options of its last start, what is known of it. Leaves: the directory to start it in
once more; nothing where it may be any. Never: changes the options: postmaster.opts stays as found.

A server started by `pg_ctl -D data` has that word in postmaster.opts, which a restart repeats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.target.host import Host, text_of
from pgassay.target.process_environment import Environment

ENV = "/usr/bin/env"
"""By its path: what it starts may have a PATH without it."""
_LAST_OPTIONS = "postmaster.opts"
_OPTION = re.compile(r'"([^"]*)"')
_OWN_DIRECTORY = re.compile(r'"-D" "(/[^"]*)" ?')
# The server takes these from where it was started; all else from its data directory.
_FILES = frozenset({"config_file", "data_directory", "hba_file", "ident_file"})


@dataclass(frozen=True)
class _Given:
    """A path among the options."""

    option: str
    path: Path


def last_options(host: Host, data: Path) -> str:
    """What a server was last started with, after its program's name, as pg_ctl restart repeats it:
    words in double quotes. Empty for one that was never started."""
    text = text_of(host, data / _LAST_OPTIONS) or ""
    first = text.split("\n", 1)[0]
    start = first.find(' "')
    return "" if start < 0 else first[start + 1 :]


def repeated_options(host: Host, data: Path) -> str:
    """The same for `pg_ctl start -D data`, which puts a directory of its own before them: without
    one that is the same, for they would grow with every start."""
    options = last_options(host, data)
    while (own := _OWN_DIRECTORY.match(options)) and _is_same(host, Path(own[1]), data):
        options = options[own.end() :]
    return options


def _is_same(host: Host, one: Path, other: Path) -> bool:
    found = _resolved(host, one)
    return found is not None and found == _resolved(host, other)


def last_program(host: Host, data: Path) -> Path | None:
    """The program it was last started as; None for one that was never started."""
    text = text_of(host, data / _LAST_OPTIONS) or ""
    path = text.split("\n", 1)[0].partition(' "')[0].strip()
    return Path(path) if path.startswith("/") else None


def words_of(options: str) -> list[str]:
    """The words of `last_options`."""
    return _OPTION.findall(options)


def start_directory(
    host: Host, data: Path, options: str, environment: Environment | None = None
) -> Path | None:
    """Where its relative paths lead to what they led to; None where it has none.

    The shell by which pg_ctl starts a server writes where it is into its `environment`. TargetError
    where no directory fits.
    """
    relative = [one for one in _given(words_of(options)) if not one.path.is_absolute()]
    if not relative:
        return None
    for directory in _perhaps(host, data, relative, environment or {}):
        if all(_fits(host, data, directory, one) for one in relative):
            return directory
    options_given = ", ".join(f"{one.option} {one.path}" for one in relative)
    raise TargetError(
        f"the server of {data} on {host.label} was last started with {options_given}"
        " (postmaster.opts), from a directory that cannot be told, so it could not be started again"
        f" so; start it once by hand with whole paths: pg_ctl start -D {data}"
    )


def _given(words: Sequence[str]) -> Iterator[_Given]:
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        if word.startswith("-D"):
            yield _Given("-D", Path(word[2:] or after))
            continue
        joined = word[2:] if word.startswith(("-c", "--")) else ""
        name, _, value = (after if word == "-c" else joined).partition("=")
        if value and name.replace("-", "_").lower() in _FILES:
            yield _Given(name, Path(value))


def _perhaps(
    host: Host, data: Path, relative: Sequence[_Given], environment: Environment
) -> Iterator[Path]:
    if environment.get("PWD", "").startswith("/"):
        yield Path(environment["PWD"])
    for one in relative:
        for whole in (data, _resolved(host, data)):
            own = one.path.parts
            if one.option == "-D" and whole is not None and whole.parts[-len(own) :] == own:
                yield Path(*whole.parts[: -len(own)])
    yield data


def _fits(host: Host, data: Path, directory: Path, given: _Given) -> bool:
    there = _resolved(host, directory / given.path)
    if given.option == "-D":
        return there is not None and there == _resolved(host, data)
    return there is not None


def _resolved(host: Host, path: Path) -> Path | None:
    try:
        return host.resolve(path)
    except OSError:
        return None
