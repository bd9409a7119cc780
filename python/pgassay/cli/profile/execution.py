"""Carry out one `pgassay profile`.

Enters: what is asked. Leaves: a directory of files, its figures on stdout.
Never: changes the server.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pgassay.analysis.profiles.functions import Counted
from pgassay.cli.terminal.console import err, out, plain
from pgassay.cli.terminal.recording import print_recording, recording
from pgassay.samples.directory import default_run_path
from pgassay.samples.profiles import ProfileDirectory
from pgassay.stored_notes import coded
from pgassay.trials.profile.model import COST, TITLES, Profile
from pgassay.workflows.profiling import Request, profile_server

SCHEMA = "pgassay.profile/1"
_SHOWN = 10


def carry_out(dsn: str, request: Request, out_path: Path | None, *, as_json: bool) -> None:
    """Profiles the server, stores the profiles and prints them."""
    directory = ProfileDirectory.create(out_path or default_run_path("profile"))
    with recording(directory) as is_stopped:
        label, profiles, notes = profile_server(
            dsn, request, directory, lambda text: err.print(plain(text)), is_stopped
        )
        was_stopped = is_stopped()

    def print_all() -> None:
        for one in profiles:
            _print(one, directory.path)
        for note in notes:
            out.print(f"note: {plain(str(note))}")

    print_recording(
        lambda: {
            "schema": SCHEMA,
            "path": str(directory.path),
            "server": label,
            "profiles": [_object(one) for one in profiles],
            **coded("notes", notes),
        },
        print_all,
        as_json=as_json,
        is_cut_short=was_stopped,
    )


def _object(profile: Profile) -> dict[str, Any]:
    counted = Counted.of(profile)
    ms = profile.unit_ns / 1e6
    return {
        **{name: value for name, value in asdict(profile).items() if name != "stacks"},
        **coded("notes", profile.notes),
        "parts": [
            {"process": process, "name": name, "ms": weight * ms}
            for (process, name), weight in sorted(counted.parts.items(), key=lambda one: -one[1])
        ],
        "functions": [
            {"name": name, "self_ms": own * ms, "total_ms": counted.total[name] * ms}
            for name, own in sorted(counted.own.items(), key=lambda one: (-one[1], one[0]))
        ],
    }


def _print(profile: Profile, path: Path) -> None:
    counted, total = Counted.of(profile), profile.ns or 1.0
    seconds = profile.ns / 1e9
    said = f"{TITLES[profile.kind]}: {seconds:.2f} s in {profile.seconds:.1f} s"
    if profile.transactions and profile.transactions >= 1:
        each = profile.ns / 1e3 / profile.transactions
        said += f"; {profile.transactions:,.0f} transactions, {each:,.0f} µs each"
    out.print(f"{said}; {profile.samples:,} samples")
    for (process, name), weight in sorted(counted.parts.items(), key=lambda one: -one[1]):
        share = 100 * weight * profile.unit_ns / total
        if share >= 1:
            out.print(f"  {share:5.1f} %  {plain(f'{process} {name}'.strip())}")
    out.print("functions with the most time of their own:")
    for name in sorted(counted.own, key=lambda name: (-counted.own[name], name))[:_SHOWN]:
        own, all_ = (
            100 * n * profile.unit_ns / total for n in (counted.own[name], counted.total[name])
        )
        out.print(f"  {own:5.1f} %  ({all_:5.1f} % with callees)  {plain(name)}")
    share = profile.perf_cpu_s / profile.seconds if profile.seconds else 0.0
    paid = f"; {COST}" if profile.kind == "cpu" else ""
    out.print(f"perf itself used {share:.2f} CPUs meanwhile{paid}")
    for note in profile.notes:
        out.print(f"note: {plain(str(note))}")
    out.print(f"flame graph: {plain(str(path / f'{profile.kind}.svg'))}")
