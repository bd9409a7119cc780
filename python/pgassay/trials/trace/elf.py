"""The symbols and static probes of a program file, and where a running process has them.

Enters: the path of a 64-bit ELF file. Leaves: an `Executable`. Never: runs a program for it, or
reads more than headers, symbols and notes.

Source: the ELF specification (gABI 4.1), and systemtap's UserSpaceProbeImplementation for the
notes of type 3 of owner "stapsdt".
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgassay.refusals.refusal import SetupRefused

_SYMBOL_TABLES = (2, 11)
"""SHT_SYMTAB and SHT_DYNSYM."""
_NOTES, _LOAD, _SHARED, _SDT = 7, 1, 3, 3
_PROVIDER = b"postgresql"
_FUNCTION, _X86_64 = 2, 62
_CARRIED_OUT = re.compile(
    rb"[\x50-\x57]|\x41[\x50-\x57]|\x90|\x0f\x1f|[\xe8\xe9\xeb]|[\x70-\x7f]|\x0f[\x80-\x8f]"
)
"""push, nop, call, jmp and conditional jumps (arch/x86/kernel/uprobes.c)."""


@dataclass(frozen=True)
class Executable:
    """Functions, static probes and addresses of a program file."""

    symbols: dict[str, tuple[int, int]]
    """Name → address and size."""
    points: frozenset[str]
    """Names of PostgreSQL's static probes."""
    stepped: frozenset[str]
    """Functions whose first instruction the kernel cannot carry out itself, but has the processor
    do in a single step when there is a probe on it: that takes many times as long."""
    moves: bool
    """Whether it is loaded at an address of the process's own choice."""
    first: int
    """The address at which the file itself begins."""


def read_executable(path: Path) -> Executable:
    """Reads a program file. Raises SetupError where that is not possible."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _executable(data)
    except (OSError, ValueError, struct.error, UnicodeDecodeError) as error:
        raise SetupRefused("program-unreadable", str(path), why=error) from None


def _executable(data: mmap.mmap) -> Executable:
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    kind, machine, segments_at, sections_at = struct.unpack_from("<16xHH12xQQ", data)
    segment_size, segments, section_size, sections = struct.unpack_from("<54xHHHH", data)
    loads = [
        (offset, address, size)
        for at in range(segments_at, segments_at + segments * segment_size, segment_size)
        for type_, offset, address, size in [struct.unpack_from("<I4xQQ8xQ", data, at)]
        if type_ == _LOAD
    ]
    headers = [
        struct.unpack_from("<4xI16xQQI4x8xQ", data, sections_at + number * section_size)
        for number in range(sections)
    ]
    symbols: dict[str, tuple[int, int]] = {}
    functions: dict[str, int] = {}
    points: set[str] = set()
    for type_, offset, size, link, entry in headers:
        if type_ in _SYMBOL_TABLES and entry:
            _, names_at, names_size, _, _ = headers[link]
            names = data[names_at : names_at + names_size]
            for name, kind_of_symbol, address, length in _symbols(
                data[offset : offset + size], names
            ):
                symbols[name] = address, length
                if kind_of_symbol == _FUNCTION:
                    functions[name] = address
        elif type_ == _NOTES:
            points |= set(_probes(data[offset : offset + size]))
    stepped = {
        name
        for name, address in functions.items()
        if machine != _X86_64 or not _CARRIED_OUT.match(_bytes_at(data, loads, address))
    }
    first = min((address - offset for offset, address, _ in loads), default=0)
    return Executable(symbols, frozenset(points), frozenset(stepped), kind == _SHARED, first)


def _bytes_at(data: mmap.mmap, loads: Sequence[tuple[int, int, int]], address: int) -> bytes:
    for offset, start, size in loads:
        if start <= address < start + size:
            return data[offset + address - start : offset + address - start + 2]
    return b""


def _symbols(table: bytes, names: bytes) -> Iterator[tuple[str, int, int, int]]:
    """Name, type, address and size of what is defined in the file."""
    for name, info, _, section, address, size in struct.iter_unpack("<IBBHQQ", table):
        if section and address:
            yield names[name : names.index(b"\0", name)].decode(), info & 15, address, size


def _probes(notes: bytes) -> Iterator[str]:
    at = 0
    while at + 12 <= len(notes):
        name_size, size, type_ = struct.unpack_from("<III", notes, at)
        name_at, at = at + 12, at + 12 + _rounded(name_size)
        words = notes[at + 24 : at + size].split(b"\0")
        if type_ == _SDT and notes[name_at:].startswith(b"stapsdt\0") and words[0] == _PROVIDER:
            yield words[1].decode()
        at += _rounded(size)


def _rounded(size: int) -> int:
    return (size + 3) & ~3


def shift_of(executable: Executable, process: int) -> int:
    """Returns what a running process adds to the addresses of its program's file."""
    if not executable.moves:
        return 0
    program = str(Path(f"/proc/{process}/exe").readlink())
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5] == program and int(words[2], 16) == 0:
            return int(words[0].partition("-")[0], 16) - executable.first
    raise SetupRefused("program-not-mapped", program=program, process=process)
