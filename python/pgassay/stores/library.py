"""The library that knows object stores.

Enters: a URL. Leaves: an open file system of fsspec and the path in it; the library's errors as one
line. Never: is told a password, or decides how often the library tries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pgassay.errors import PgassayError
from pgassay.refusals.refusal import DirectoryRefused, SetupRefused
from pgassay.spec.secrets.redaction import redacted

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_CHANGING = (
    "ETag",
    "etag",
    "md5Hash",
    "generation",
    "LastModified",
    "last_modified",
    "updated",
    "mtime",
    "created",
    "size",
)
"""What stores say of an object that is another after it was written again."""


def opened(url: str) -> tuple[AbstractFileSystem, str]:
    """Opens the file system of a URL; returns it with the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise SetupRefused("no-remote-extra", url) from None
    try:
        system, path = url_to_fs(url)
    except ImportError as error:  # it names the package
        raise SetupRefused("no-library-of-store", url, why=_line(error)) from None
    except ValueError as error:
        raise SetupRefused("not-a-url-of-a-store", url, why=_line(error)) from None
    except Exception as error:
        raise SetupRefused("store-not-opened", url, why=_line(error)) from None
    system.invalidate_cache()  # of listings; what is there is asked now
    return system, path


@contextmanager
def clear_errors(url: str, what: str = "cannot be read") -> Iterator[None]:
    """Turns whatever the library of a store raises into an error of one line."""
    try:
        yield
    except PgassayError:
        raise
    except Exception as error:
        raise DirectoryRefused("store-failed", url, what=what, why=_line(error)) from None


def version_of(found: Mapping[str, Any]) -> str:
    """Returns a text that changes when an object of a listing is written again."""
    return " ".join(str(found[key]) for key in _CHANGING if found.get(key) is not None)


def _line(error: BaseException) -> str:
    text = redacted(" ".join(str(error).split()))
    return text or type(error).__name__
