"""Certificates for the TLS tests, made by the openssl of this machine.

Enters: a folder. Leaves: an authority, and certificates it signed. Never: kept between runs.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.packages import needs


@dataclass(frozen=True)
class Authority:
    """A root certificate and its key."""

    folder: Path
    name: str

    @property
    def certificate(self) -> Path:
        return self.folder / f"{self.name}.crt"

    def sign(self, name: str, subject: str, *, alternative: str | None = None) -> tuple[Path, Path]:
        """A certificate and its key; without an alternative name it is of version 1, as in
        PostgreSQL's manual."""
        key, request = self.folder / f"{name}.key", self.folder / f"{name}.csr"
        certificate = self.folder / f"{name}.crt"
        _openssl("req", "-new", "-nodes", "-subj", f"/CN={subject}", "-newkey", "rsa:2048",
                 "-keyout", key, "-out", request)  # fmt: skip
        extensions: list[str | Path] = []
        if alternative:
            file = self.folder / f"{name}.ext"
            file.write_text(f"subjectAltName={alternative}\n")
            extensions = ["-extfile", file]
        _openssl("x509", "-req", "-in", request, "-days", "2", "-CA", self.certificate,
                 "-CAkey", self.folder / f"{self.name}.key", "-CAcreateserial",
                 "-out", certificate, *extensions)  # fmt: skip
        key.chmod(0o600)
        return certificate, key


def make_authority(folder: Path, name: str) -> Authority:
    needs("openssl")
    authority = Authority(folder, name)
    _openssl("req", "-new", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={name}",
             "-newkey", "rsa:2048", "-keyout", folder / f"{name}.key",
             "-out", authority.certificate)  # fmt: skip
    return authority


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)
