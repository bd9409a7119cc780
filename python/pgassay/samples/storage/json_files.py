"""JSON files of a run directory, and what is wrong with one that is damaged.

Enters: objects, paths. Leaves: bytes, objects, one line that names the file. Never: writes a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pgassay.json_text import decoded
from pgassay.refusals.refusal import DirectoryRefused, UnfitValue
from pgassay.spec.secrets.redaction import redacted_value
from pgassay.stored_model import StoredFile

_File = TypeVar("_File", bound=StoredFile)


def as_json(value: Mapping[str, Any]) -> bytes:
    """Returns the bytes of a JSON file."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def without_secrets(file: StoredFile) -> bytes:
    """Returns the bytes of a JSON file, every text redacted."""
    return as_json(redacted_value(file.to_json()))


def read_text(path: Path) -> str:
    """Reads the text of a file."""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise DirectoryRefused("cannot-be-opened", path, why=error.strerror) from None
    except UnicodeDecodeError:
        raise DirectoryRefused("file-not-utf8", path) from None


def parsed_file(path: Path) -> dict[str, Any]:
    """Reads the object of a JSON file."""
    try:
        value = decoded(text := read_text(path))
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DirectoryRefused("half-a-character", path) from None
    except ValueError as error:
        raise DirectoryRefused("damaged", path, why=error) from None
    if not isinstance(value, dict):
        raise DirectoryRefused("not-an-object", path)
    return value


def stored_file(path: Path, model: type[_File]) -> _File:
    """Reads a JSON file as its model; refuses one that is not of this form."""
    with misfits_of(path):
        return model.read(parsed_file(path))


@contextmanager
def misfits_of(path: Path) -> Iterator[None]:
    """Names the file of which a value does not fit."""
    try:
        yield
    except UnfitValue as error:
        raise DirectoryRefused(error.refusal.code, path, **error.refusal.values) from None
