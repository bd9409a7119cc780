"""doctor tells of every way to trace whether it could be gone, and what opens it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from pgassay.target.host import Finished
from pgassay.target.local_host import LocalHost
from pgassay.trials.check import Check
from pgassay.trials.tracing_checks import check_program, check_tracing

ALL_RIGHTS, NO_RIGHTS = "000001ffffffffff", "0000000000000000"
BPF_AND_PERFMON = f"{(1 << 39) | (1 << 38):016x}"


class Told(LocalHost):
    """A host whose kernel is another: its answer is given."""

    def __init__(self, **answers: str) -> None:
        super().__init__()
        self._answers = {"looked": "yes", **answers}

    def run(
        self,
        words: Sequence[str | Path],
        *,
        text: str = "",
        user: str | None = None,
        limit_s: float = 0.0,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        lines = "".join(f"==> {name} <==\n{line}\n" for name, line in self._answers.items())
        return subprocess.CompletedProcess([str(word) for word in words], 0, lines, "")


def found(**answers: str) -> dict[str, Check]:
    return {check.name: check for check in check_tracing(Told(**answers))}


def test_with_all_rights_and_programs_nothing_is_missing() -> None:
    checks = found(
        perf="/usr/bin/perf", bpftrace="/usr/bin/bpftrace", paranoid="4", rights=ALL_RIGHTS,
        tracefs="/sys/kernel/tracing",
    )  # fmt: skip
    assert {check.state for check in checks.values()} == {"ok"}


def test_rights_that_are_given_one_by_one_are_enough() -> None:
    given = {"perf": "/p", "bpftrace": "/b", "paranoid": "2", "tracefs": "/sys/kernel/tracing"}
    assert {c.state for c in found(**given, rights=BPF_AND_PERFMON).values()} == {"ok"}
    without = found(**given, rights=NO_RIGHTS)
    assert {check.state for check in without.values()} == {"note"}
    assert "kernel.perf_event_paranoid=0" in without["tracing with perf"].fix
    assert "cap_bpf" in without["tracing with bpftrace"].fix
    assert found(**{**given, "paranoid": "-1"}, rights=NO_RIGHTS)["tracing with perf"].state == "ok"


def test_what_is_not_installed_or_mounted_has_its_line() -> None:
    checks = found(paranoid="2", rights=ALL_RIGHTS, uprobes="8")
    assert "linux-perf" in checks["tracing with perf"].fix
    assert checks["tracing with bpftrace"].fix == "install bpftrace"
    assert checks["uprobes"].fix == "mount -t tracefs tracefs /sys/kernel/tracing"
    assert "CONFIG_PERF_EVENTS" in found(rights=ALL_RIGHTS)["tracing with perf"].found


def test_this_host_answers() -> None:
    checks = check_tracing(LocalHost())
    assert [check.name for check in checks] == [
        "tracing with perf", "tracing with bpftrace", "uprobes",
    ]  # fmt: skip
    assert all(
        check.fix for check in checks if check.state == "note" and "CONFIG" not in check.found
    )


def test_a_program_tells_of_its_probes_and_symbols() -> None:
    with_all = check_program(Told(readable="yes", program="/x", probes="yes", symbols="yes"), 1)
    assert {check.state for check in with_all} == {"ok"}
    bare = check_program(Told(readable="yes", program="/x"), 1)
    assert "--enable-dtrace" in bare[0].fix
    assert "dbgsym" in bare[1].fix
    (hidden,) = check_program(Told(program="/x"), 1)
    assert "as root" in hidden.fix
