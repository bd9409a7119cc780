"""What one transaction cost, from counters of the server and its host.

Enters: counters, a window and its transactions; a trial's fingerprint. Leaves: metrics by name;
None where a counter was not read. Never: splits a cost among scenarios.
"""

from __future__ import annotations

from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.waits.cpu_queue import OF_THE_LOAD
from pgassay.samples.forms.trial import TrialFile
from pgassay.trials.host.disk_names import whole_disks
from pgassay.trials.sampling.queries import STATEMENTS

RUN = "session_run"
"""How long the load's sessions ran, in ms per transaction; no metric, but what CPU is made of."""
CPU_BUSY = ("user", "nice", "system", "irq", "softirq")
CPU_IDLE = ("idle", "iowait")
_SECTOR = 512
_TICK_MS = 10.0
"""/proc/stat counts in USER_HZ, 100 a second by the kernel's ABI."""


def server_costs(
    postgres: CounterSeries, start: int, end: int, transactions: int
) -> dict[str, float | None]:
    def per_tx(source: str, *names: str) -> float | None:
        grown = postgres.total(source, names, start, end)
        return None if grown is None else grown / transactions

    return {
        "wal_bytes_per_tx": per_tx("wal_position", "insert_bytes"),
        "wal_fpi_per_tx": per_tx("wal", "wal_fpi"),
        "checkpoint_buffers_per_tx": per_tx("checkpointer", "buffers_written"),
        "blocks_read_per_tx": per_tx("database", "blks_read"),
        "blocks_hit_per_tx": per_tx("database", "blks_hit"),
        "temp_bytes_per_tx": per_tx("database", "temp_bytes"),
        "wal_records_per_tx": per_tx("wal", "wal_records"),
        "wal_syncs_per_tx": _wal_syncs(postgres, start, end, transactions),
        "buffers_backend_per_tx": per_tx("bgwriter", "buffers_backend"),
        "backend_writes_per_tx": _backend_writes(postgres, start, end, transactions),
    }


def host_costs(
    host: CounterSeries, start: int, end: int, transactions: int
) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    busy = host.total("stat", CPU_BUSY, start, end)
    idle = host.total("stat", CPU_IDLE, start, end)
    steal = host.total("stat", ("steal",), start, end) or 0.0
    if busy is not None and idle is not None and busy + idle + steal > 0:
        everything = busy + idle + steal
        found["host_cpu_busy"] = 100.0 * busy / everything
        found["host_steal"] = 100.0 * steal / everything
    if busy:  # needs neither idle nor iowait, which may decrease
        found["host_cpu_ms_per_tx"] = busy * _TICK_MS / transactions
    switches = host.total("stat", ("ctxt",), start, end)
    if switches is not None:
        found["context_switches_per_tx"] = switches / transactions
    found |= session_cpu(host, start, end, transactions)
    disks = set(whole_disks({o for source, o, _ in host.keys() if source == "diskstats"}))  # noqa: SIM118 (not a mapping)
    flushes = host.total("diskstats", ("flushes_completed",), start, end, counts=disks.__contains__)
    if flushes is not None:
        found["disk_flushes_per_tx"] = flushes / transactions
    for kind in ("written", "read"):
        sectors = host.total(
            "diskstats", (f"sectors_{kind}",), start, end, counts=disks.__contains__
        )
        if sectors is not None:
            found[f"disk_{kind}_bytes_per_tx"] = sectors * _SECTOR / transactions
    took, done = (
        host.total("diskstats", names, start, end, counts=disks.__contains__)
        for names in (("read_ms", "write_ms"), ("reads_completed", "writes_completed"))
    )
    found["disk_await_ms"] = took / done if took is not None and done else None
    found["memory_used_bytes"] = _memory_used(host, start, end)
    swapped = host.total("vmstat", ("pswpin", "pswpout"), start, end)
    found["swapped_pages_per_s"] = None if swapped is None else swapped / ((end - start) / 1e9)
    return found


def session_cpu(
    host: CounterSeries, start: int, end: int, transactions: int
) -> dict[str, float | None]:
    """Processor time of the load's sessions, as the kernel counts it in ticks."""
    found: dict[str, float | None] = {}
    for mode in ("user", "system"):
        ticks = host.total(
            "processes", (f"{mode}_ticks",), start, end, counts=OF_THE_LOAD.__contains__
        )
        per_tx = None if ticks is None else ticks * _TICK_MS / transactions
        found[f"session_{mode}_cpu_ms_per_tx"] = per_tx
    return found


def session_times(
    host: CounterSeries, start: int, end: int, transactions: int
) -> dict[str, float | None]:
    """Returns how long the load's sessions ran, and were queued for a processor, by the kernel's
    count."""
    found: dict[str, float | None] = {}
    for name, counter in ((RUN, "run_ns"), ("session_queue_ms_per_tx", "queue_ns")):
        spent = host.total("processes", (counter,), start, end, counts=OF_THE_LOAD.__contains__)
        found[name] = None if spent is None else spent / transactions / 1e6
    return found


def statement_costs(postgres: CounterSeries, summary: TrialFile) -> dict[str, float]:
    """Returns costs by pg_stat_statements, which is read before and after the load: the warm-up is
    included."""
    transactions = summary.load.transactions
    grown = [
        float(values[-1] - values[0])
        for key in postgres.keys()  # noqa: SIM118 (not a mapping)
        if key[0] == STATEMENTS.source and key[2] == "shared_blks_dirtied"
        for values in (postgres.points(key)[1],)
    ]
    if not transactions or not grown:
        return {}
    return {"blocks_dirtied_per_tx": sum(grown) / transactions}


def _memory_used(host: CounterSeries, start: int, end: int) -> float | None:
    """The mean of what the kernel could not give to a new program without swapping."""
    total, available = (
        host.mean_level(("meminfo", "", name), start, end) for name in ("MemTotal", "MemAvailable")
    )
    if total is None or available is None:
        return None
    return 1024.0 * (total - available)


def server_cpu(summary: TrialFile) -> dict[str, float]:
    """Processor time of the server's processes per transaction, over the whole load.

    The guards read it before and after the load, so it and the transactions include the warm-up.
    """
    processors = summary.fingerprint.processors
    transactions = summary.load.transactions
    if processors is None or not transactions:
        return {}
    return {"server_cpu_ms_per_tx": 1e3 * processors.server_s / transactions}


def _wal_syncs(postgres: CounterSeries, start: int, end: int, transactions: int) -> float | None:
    """WAL flushes: from pg_stat_wal up to version 17, from pg_stat_io since."""
    grown = postgres.total("wal", ("wal_sync",), start, end)
    if grown is None:
        grown = postgres.total("io", ("fsyncs",), start, end, counts=lambda o: "/wal/normal" in o)
    return None if grown is None else grown / transactions


def _backend_writes(
    postgres: CounterSeries, start: int, end: int, transactions: int
) -> float | None:
    """Blocks of tables and indexes that client backends wrote themselves."""
    grown = postgres.total(
        "io", ("writes",), start, end, counts=lambda o: o.startswith("client backend/relation/")
    )
    return None if grown is None else grown / transactions
