"""The files of a log: their form, their order, and what the native module reads of them.

Enters: paths of files, plain or compressed (.gz, .bz2, .lz4, .zst). Leaves: a native reader that
has read them, or is being fed. Never: holds more of a file than a piece, or repeats its text in an
error.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import pyarrow as pa

from pgassay._core import LogReader
from pgassay.draw.log.options import LogOptions
from pgassay.refusals.refusal import SetupRefused

PIECE = 1 << 20
_SAMPLE = 4 << 20
_NAME = rb'(?:"(?:[^"]|"")*")?,'
_CSV = re.compile(
    rb"\d{4,5}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [^, \n]+," + _NAME + _NAME + rb"\d+,", re.ASCII
)
_TIMES = re.compile(r"%-?\d*[mtn]")
_SESSIONS = re.compile(r"%-?\d*[pc]")
_OURS = "pgassay"


class Log:
    """The files of one log in the order of their times.

    Raises SetupRefused for files that are none of a log, or of different forms.
    """

    def __init__(self, paths: Sequence[Path], options: LogOptions) -> None:
        self._options = options
        heads = {path: _head(path) for path in dict.fromkeys(paths)}
        forms = {path: _form(head) for path, head in heads.items() if head.strip()}
        if not forms:
            raise SetupRefused("log-empty", "--log")
        if len(set(forms.values())) > 1:
            raise SetupRefused("log-forms-mixed", "--log", forms=", ".join(sorted(forms.values())))
        self._form = next(iter(forms.values()))
        self.prefix = self._prefix([heads[path] for path in forms])
        begins = {path: self._begin(heads[path]) for path in forms}
        self._paths = sorted(forms, key=lambda path: begins[path])

    def reader(self, *, trace: bool = False) -> LogReader:
        """Returns a native reader that has read nothing yet."""
        return LogReader(json.dumps(self._configuration(self.prefix) | {"trace": trace}))

    def feed(self, reader: LogReader) -> Iterator[None]:
        """Feeds all files to a reader; yields after each piece, and once when all is read."""
        whole = sum(path.stat().st_size for path in self._paths) or 1
        done = 0
        for path in self._paths:
            try:
                # Of a compressed file bytes that are read are more than those of the file.
                with path.open("rb") as raw, _opened(path, raw) as stream:
                    while piece := stream.read(PIECE):
                        reader.feed(piece)
                        self._tell((done + raw.tell()) / whole)
                        yield
            except (OSError, pa.ArrowInvalid):
                raise SetupRefused("log-unreadable", "--log", file=str(path)) from None
            reader.feed(b"", last=True)
            done += path.stat().st_size
        reader.finish()
        yield

    def _tell(self, share: float) -> None:
        if self._options.progress is not None:
            self._options.progress(min(share, 1.0))

    def _configuration(self, prefix: str) -> dict[str, Any]:
        asked = self._options
        return {
            "form": self._form,
            "prefix": prefix,
            "database": asked.database,
            "user": asked.user,
            "application": asked.application,
            "without_applications": [_OURS],
            "most_rows": asked.most_rows,
            "seed": asked.seed,
        }

    def _prefix(self, heads: Sequence[bytes]) -> str:
        if self._form != "stderr":
            return ""
        given = self._options.prefix
        if given is None:
            found = {one: sum(self._statements(one, head) for head in heads) for one in _known()}
            given = max(found, key=lambda one: found[one])
            if not found[given]:
                raise SetupRefused("log-prefix-unknown", "--prefix")
        if not _TIMES.search(given):
            raise SetupRefused("log-prefix-without-time", "--prefix")
        if not _SESSIONS.search(given):
            raise SetupRefused("log-prefix-without-session", "--prefix")
        for name, escape in (("database", "d"), ("user", "u"), ("application", "a")):
            asked = getattr(self._options, name)
            if asked is not None and not re.search(rf"%-?\d*{escape}", given):
                raise SetupRefused("log-prefix-without-name", f"--{name}", escape=escape)
        if not any(self._summary(given, head)["entries"] for head in heads):
            raise SetupRefused("log-prefix-unfit", "--prefix")
        return given

    def _statements(self, prefix: str, head: bytes) -> int:
        return int(self._summary(prefix, head)["statements"])

    def _begin(self, head: bytes) -> int:
        return int(self._summary(self.prefix, head)["first_us"] or 0)

    def _summary(self, prefix: str, head: bytes) -> dict[str, Any]:
        """What a reader of everybody's entries finds at the start of a file."""
        everybody = {"database": None, "user": None, "application": None}
        asked = self._configuration(prefix) | everybody | {"without_applications": []}
        reader = LogReader(json.dumps(asked | {"most_rows": 1}))
        reader.feed(head, last=True)
        reader.finish()
        summary: dict[str, Any] = json.loads(reader.summary())
        return summary


@cache
def _known() -> tuple[str, ...]:
    text = (resources("pgassay.draw.log") / "prefixes.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)["prefixes"])


def _opened(path: Path, raw: Any) -> Any:
    """A stream of a file's content; the ending of its name says how it is compressed."""
    kind = {".gz": "gzip", ".bz2": "bz2", ".lz4": "lz4", ".zst": "zstd"}.get(path.suffix)
    return pa.CompressedInputStream(raw, kind) if kind else pa.PythonFile(raw, mode="r")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as raw, _opened(path, raw) as stream:
            return bytes(stream.read(_SAMPLE))
    except (OSError, pa.ArrowInvalid):
        raise SetupRefused("log-unreadable", "--log", file=str(path)) from None


def _form(head: bytes) -> str:
    """The form of a log by its first lines, of which the first may be torn."""
    for line in head.split(b"\n", 50)[:50]:
        if line.startswith(b'{"timestamp"'):
            return "json"
        if _CSV.match(line):
            return "csv"
    return "stderr"
