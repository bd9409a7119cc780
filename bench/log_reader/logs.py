"""Logs of a real server in its three forms, made as large as is asked.

Enters: a folder, sizes. Leaves: a log of the shop's clients as csv, json and stderr, and files that
repeat it, a day later each time. Never: measures.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa

from bench.incidents.provoke import dsn_of, run_sql
from bench.own_load.applications import DEBIAN, application, clients
from pgassay.server.hosts.account import server_account

COMPRESSED = {"": None, ".gz": "gzip", ".zst": "zstd"}
"""Endings of names → pyarrow's name of the compression."""
_SETTINGS = (
    ("logging_collector", "on"),
    ("log_destination", "stderr,csvlog,jsonlog"),
    ("log_filename", "shop.log"),
)
_FORMS = {"csv": "shop.csv", "json": "shop.json", "stderr": "shop.log"}
_DAY = re.compile(rb"\d{4}-\d\d-\d\d")
_CLIENTS = 4


def logs_of_clients(seconds: float, programs: Path = DEBIAN) -> dict[str, bytes]:
    """What the server logged of its clients, by form."""
    with application("shop", programs) as server:
        data = Path(server.facts.data_directory or "")
        run_sql(server, *(f"ALTER SYSTEM SET {name} = '{value}'" for name, value in _SETTINGS))
        restart: list[str | Path] = ["-D", data, "-w", "-l", data / "start.log", "restart"]
        server_account().require([server.programs / "pg_ctl", *restart], limit_s=60)
        folder = data / "log"
        before = {form: (folder / name).stat().st_size for form, name in _FORMS.items()}
        with clients(dsn_of(server), seconds + 60, _CLIENTS, 0.0):
            time.sleep(seconds)
        return {form: (folder / name).read_bytes()[before[form] :] for form, name in _FORMS.items()}


def repeated(log: bytes, path: Path, least: int) -> int:
    """Writes a log again and again, a day later each time, until it has `least` bytes; returns how
    many it has. The ending of the name says how it is compressed."""
    kind = COMPRESSED[path.suffix if path.suffix in COMPRESSED else ""]
    found = _DAY.search(log)
    if found is None:
        raise ValueError("a log without a time")
    first, done = date.fromisoformat(found[0].decode()), 0
    with path.open("wb") as raw, pa.PythonFile(raw, mode="w") as file:
        stream = pa.CompressedOutputStream(file, kind) if kind else file
        while done < least:
            day = first + timedelta(days=done // len(log))
            stream.write(log.replace(found[0], day.isoformat().encode()))
            done += len(log)
        stream.close()
    return done


def statements_in(logs: Mapping[str, bytes]) -> int:
    """About how many statements these logs have: their executions."""
    return logs["csv"].count(b" execute ") + logs["csv"].count(b" statement: ")
