"""What a process is given at its start beside its environment: limits, CPUs, niceness, OOM score.

Enters: a host, a server's process. Leaves: its `Bounds`; what to put before a command so that it
has the same; a TargetError where that cannot be had. Never: gives a process more than it had, or
touches one that runs.

/proc shows no memory policy (NUMA), and a control group is not given back: `service` does both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pgassay.errors import TargetError
from pgassay.target.account import last_line
from pgassay.target.host import Host

_FILES = ("limits", "status", "stat", "oom_score_adj")
# proc(5), limits, and by what option prlimit(1) sets each.
_LIMITS = {
    "Max cpu time": "cpu",
    "Max file size": "fsize",
    "Max data size": "data",
    "Max stack size": "stack",
    "Max core file size": "core",
    "Max resident set": "rss",
    "Max processes": "nproc",
    "Max open files": "nofile",
    "Max locked memory": "memlock",
    "Max address space": "as",
    "Max file locks": "locks",
    "Max pending signals": "sigpending",
    "Max msgqueue size": "msgqueue",
    "Max nice priority": "nice",
    "Max realtime priority": "rtprio",
    "Max realtime timeout": "rttime",
}
_LIMIT = re.compile(r"^(Max [a-z ]+?)\s{2,}(\w+)\s+(\w+)", re.MULTILINE)
# By their paths: the environment may be the server's. What fails here is seen by what comes of it.
_AS = (
    'cpus=$1 nice=$2 oom=$3; shift 3; { [ -z "$oom" ] || echo "$oom" >/proc/self/oom_score_adj;'
    ' [ -z "$nice" ] || /usr/bin/renice -n "$nice" -p $$;'
    ' [ -z "$cpus" ] || /usr/bin/taskset -cp "$cpus" $$; } >/dev/null 2>&1; exec "$@"'
)


@dataclass(frozen=True)
class Bounds:
    """Of one process."""

    limits: Mapping[str, str]
    """Soft and hard, by prlimit's names."""
    cpus: str
    nice: str
    oom: str

    def missing_in(self, other: Bounds) -> list[str]:
        """What of these another process does not have, in words."""
        pairs = [(name, was, other.limits.get(name, "")) for name, was in self.limits.items()]
        pairs += [
            ("CPUs", self.cpus, other.cpus),
            ("nice", self.nice, other.nice),
            ("oom_score_adj", self.oom, other.oom),
        ]
        return [f"{name} {was} (now {is_now})" for name, was, is_now in pairs if was != is_now]


def bounds_of(host: Host, pid: int) -> Bounds | None:
    """Those of a process; None where it cannot be seen."""
    done = host.run(_look(str(pid)))
    return parsed(done.stdout) if done.returncode == 0 else None


def as_before(host: Host, account: str, wanted: Bounds | None) -> tuple[list[str], str | None]:
    """What to put before a command so that it has these bounds, and as whom that is run.

    TargetError where it would not have them: tried on a command that only looks at itself.
    """
    look = _look("self")
    ours = parsed(host.run(look, user=account).stdout)
    if wanted is None or ours is None or not wanted.missing_in(ours):
        return [], account
    words = ["/bin/sh", "-c", _AS, "sh"]
    words += [
        was if was != now else ""
        for was, now in (
            (wanted.cpus, ours.cpus),
            (wanted.nice, ours.nice),
            (wanted.oom, ours.oom),
        )
    ]
    other = [name for name, was in wanted.limits.items() if ours.limits.get(name) != was]
    if other:
        words += ["/usr/bin/prlimit", *(f"--{name}={wanted.limits[name]}" for name in other)]
    user: str | None = account
    if host.uid == 0:
        # Only root may raise them, so it becomes the account behind that.
        group = host.run(["id", "-g", account]).stdout.strip()
        words += ["/usr/bin/setpriv", f"--reuid={account}", f"--regid={group}", "--init-groups"]
        user = None
    done = host.run([*words, *look], user=user)
    got = parsed(done.stdout)
    if done.returncode or got is None:
        raise _not_kept(f"{last_line(done)}: {', '.join(wanted.missing_in(ours))}")
    if missing := wanted.missing_in(got):
        raise _not_kept(", ".join(missing))
    return words, user


def refuse_other_bounds(host: Host, pid: int, wanted: Bounds | None) -> None:
    """TargetError where a server has come up with others. It may have made itself room for files,
    as it knows how many it needs."""
    got = bounds_of(host, pid)
    if wanted is None or got is None:
        return
    room, now = (one.limits.get("nofile", "") for one in (wanted, got))
    if room.partition(":")[2] == now.partition(":")[2]:
        got = replace(got, limits={**got.limits, "nofile": room})
    if missing := wanted.missing_in(got):
        raise _not_kept(", ".join(missing))


def _not_kept(what: str) -> TargetError:
    return TargetError(
        "target.bin: pg_ctl could not give back at a restart what the server was started with"
        f" ({what}); run pgassay as root or from a shell that has the same, or name its service"
    )


def _look(pid: str) -> list[str]:
    return ["/bin/cat", *(f"/proc/{pid}/{name}" for name in _FILES)]


def parsed(text: str) -> Bounds | None:
    """Of the files above, one after another."""
    cpus = re.search(r"^Cpus_allowed_list:\s*(\S+)", text, re.MULTILINE)
    # proc(5): niceness is the 19th field of stat, the 17th behind the name.
    stat = re.search(r"^\d+ \(.*\) (.*)$", text, re.MULTILINE)
    if cpus is None or stat is None:
        return None
    limits = {
        _LIMITS[name]: f"{soft}:{hard}"
        for name, soft, hard in _LIMIT.findall(text)
        if name in _LIMITS
    }
    return Bounds(limits, cpus[1], stat[1].split()[16], text.split()[-1])
