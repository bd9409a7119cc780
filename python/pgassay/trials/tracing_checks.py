"""Whether a server could be traced on its host: perf, bpftrace, uprobes, names in its program.

Enters: a host, a backend of the server. Leaves: `Check` values, each with the line that enables it.
Never: traces anything, changes anything, or raises for what it finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files

from pgassay.errors import TargetError
from pgassay.target.host import Host
from pgassay.trials.check import Check
from pgassay.trials.host_look import lines_of

_SYS_ADMIN, _PERFMON, _BPF = 21, 38, 39
"""Numbers of capabilities (capability.h)."""
_LIMIT_S = 20.0
_PERF, _BPFTRACE, _UPROBES = "tracing with perf", "tracing with bpftrace", "uprobes"
_PROGRAM = "names for tracing"


def check_tracing(host: Host) -> list[Check]:
    """What the host has for it."""
    try:
        seen = _look(host, None)
    except TargetError as error:
        return [Check(_PERF, "note", str(error))]
    return [_perf(seen), _bpftrace(seen), _uprobes(seen)]


def check_program(host: Host, backend: int) -> list[Check]:
    """What a tracer finds in the server's own program, which `backend` runs."""
    try:
        seen = _look(host, backend)
    except TargetError as error:
        return [Check(_PROGRAM, "note", str(error))]
    if "readable" not in seen:
        found = "the server's program cannot be looked into"
        return [Check(_PROGRAM, "note", found, "run doctor as root or as the server's account")]
    return list(_names(seen))


def _look(host: Host, backend: int | None) -> Mapping[str, str]:
    script = (files(__package__) / "tracing_look.sh").read_text("utf-8")
    done = host.run(["sh", "-c", script, "sh", str(backend or "")], limit_s=_LIMIT_S)
    seen = lines_of(done.stdout)
    if "looked" not in seen:
        raise TargetError(f"{host.label} does not tell what it has for tracing")
    return seen


def _perf(seen: Mapping[str, str]) -> Check:
    level = seen.get("paranoid", "")
    if not level:
        return Check(_PERF, "note", "this kernel has no perf events (CONFIG_PERF_EVENTS)")
    if "perf" not in seen:
        fix = "install linux-perf (Debian), linux-tools-$(uname -r) (Ubuntu) or perf (Red Hat)"
        return Check(_PERF, "note", "perf is not installed", fix)
    found = f"{seen['perf']}, kernel.perf_event_paranoid = {level}"
    if _may(seen, _PERFMON) or int(level) <= 0:
        return Check(_PERF, "ok", found)
    return Check(
        _PERF,
        "note",
        f"{found}: this account sees no other account's processes",
        "run as root, or: sysctl kernel.perf_event_paranoid=0",
    )


def _bpftrace(seen: Mapping[str, str]) -> Check:
    if "bpftrace" not in seen:
        return Check(_BPFTRACE, "note", "bpftrace is not installed", "install bpftrace")
    if _may(seen, _BPF, _PERFMON):
        return Check(_BPFTRACE, "ok", seen["bpftrace"])
    return Check(
        _BPFTRACE,
        "note",
        f"{seen['bpftrace']}, but this account may not load programs into the kernel",
        "run as root outside a container, or: setcap cap_bpf,cap_perfmon+ep on a copy of it",
    )


def _uprobes(seen: Mapping[str, str]) -> Check:
    if not _may(seen, _PERFMON):
        found = "need root, or CAP_PERFMON for those of perf events"
        return Check(_UPROBES, "note", found, "run as root outside a container")
    if "tracefs" in seen:
        return Check(_UPROBES, "ok", f"tracefs at {seen['tracefs']}")
    if "uprobes" in seen:
        found = "by perf events; `perf probe` and tracepoints need tracefs, which is not mounted"
        return Check(_UPROBES, "note", found, "mount -t tracefs tracefs /sys/kernel/tracing")
    found = "tracefs is not mounted, or this kernel has none (CONFIG_UPROBE_EVENTS)"
    return Check(_UPROBES, "note", found, "mount -t tracefs tracefs /sys/kernel/tracing")


def _names(seen: Mapping[str, str]) -> Iterator[Check]:
    program = seen.get("program", "its program")
    if "probes" in seen:
        yield Check(_PROGRAM, "ok", f"{program} has PostgreSQL's own probes")
    else:
        found = f"{program} has no probes of PostgreSQL's own"
        yield Check(_PROGRAM, "note", found, "a PostgreSQL built with --enable-dtrace")
    if "symbols" in seen:
        yield Check(_PROGRAM, "ok", "its debug symbols are there")
    else:
        yield Check(
            _PROGRAM,
            "note",
            "no debug symbols: only exported functions have names",
            "install them (Debian: postgresql-VERSION-dbgsym, Red Hat: debuginfo-install)",
        )


def _may(seen: Mapping[str, str], *capabilities: int) -> bool:
    """Whether commands there have these rights, or the one that stands for all."""
    held = int(seen.get("rights", "0"), 16)
    return bool(held >> _SYS_ADMIN & 1) or all(held >> one & 1 for one in capabilities)
