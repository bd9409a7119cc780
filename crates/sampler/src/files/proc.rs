//! Parsers for the files of `/proc`.
//!
//! Enters: the text of one file. Leaves: (object, name, value) one by one, raw, in the kernel's
//! units. Never: fails; a malformed line is skipped.

use crate::files::values::{Emit, columns};

/// `stat`: CPU times of the whole host in ticks (1/100 s), and running and blocked processes.
///
/// `user` and `nice` already include the time of guests, so the last two columns are left out.
pub(crate) fn stat(text: &str, emit: Emit<'_>) {
    const CPU: [&str; 8] = [
        "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
    ];
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("cpu") => columns("cpu", &CPU, words, emit),
            Some(name @ ("ctxt" | "intr" | "processes" | "procs_running" | "procs_blocked")) => {
                columns("", &[name], words, emit)
            }
            _ => {}
        }
    }
}

/// `meminfo`: use of memory in kB; huge pages as a number of pages.
pub(crate) fn meminfo(text: &str, emit: Emit<'_>) {
    const WANTED: [&str; 20] = [
        "MemTotal",
        "MemFree",
        "MemAvailable",
        "Buffers",
        "Cached",
        "SwapCached",
        "Active",
        "Inactive",
        "SwapTotal",
        "SwapFree",
        "Dirty",
        "Writeback",
        "AnonPages",
        "Mapped",
        "Shmem",
        "SReclaimable",
        "SUnreclaim",
        "PageTables",
        "HugePages_Total",
        "HugePages_Free",
    ];
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else {
            continue;
        };
        if WANTED.contains(&name) {
            columns("", &[name], rest.split_ascii_whitespace(), emit);
        }
    }
}

/// `vmstat`: write-back and its limits, paging, reclaim, swapping and out-of-memory kills.
pub(crate) fn vmstat(text: &str, emit: Emit<'_>) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        if let Some(
            name @ ("nr_dirty"
            | "nr_dirty_threshold"
            | "nr_dirty_background_threshold"
            | "nr_writeback"
            | "nr_dirtied"
            | "nr_written"
            | "pgpgin"
            | "pgpgout"
            | "pswpin"
            | "pswpout"
            | "pgfault"
            | "pgmajfault"
            | "pgscan_kswapd"
            | "pgscan_direct"
            | "pgsteal_kswapd"
            | "pgsteal_direct"
            | "oom_kill"),
        ) = words.next()
        {
            columns("", &[name], words, emit);
        }
    }
}

/// `diskstats`: each block device that is not in memory; kernels before 5.5 have fewer columns.
pub(crate) fn diskstats(text: &str, emit: Emit<'_>) {
    const COLUMNS: [&str; 17] = [
        "reads_completed",
        "reads_merged",
        "sectors_read",
        "read_ms",
        "writes_completed",
        "writes_merged",
        "sectors_written",
        "write_ms",
        "in_flight",
        "io_ms",
        "weighted_io_ms",
        "discards_completed",
        "discards_merged",
        "sectors_discarded",
        "discard_ms",
        "flushes_completed",
        "flush_ms",
    ];
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace().skip(2);
        let Some(device) = words.next() else { continue };
        let in_memory = ["loop", "ram", "zram"]
            .iter()
            .any(|kind| device.starts_with(kind));
        if !in_memory {
            columns(device, &COLUMNS, words, emit);
        }
    }
}

/// `loadavg`: the mean number of running or blocked processes over one minute.
pub(crate) fn loadavg(text: &str, emit: Emit<'_>) {
    let load = text
        .split_ascii_whitespace()
        .next()
        .and_then(|word| word.parse::<f64>().ok())
        .filter(|load| load.is_finite());
    if let Some(load) = load {
        emit("", "load1", load);
    }
}

/// `pressure/*`: how long some or all tasks were stalled, in µs since the host started.
pub(crate) fn pressure(text: &str, emit: Emit<'_>) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let name = match words.next() {
            Some("some") => "some_us",
            Some("full") => "full_us",
            _ => continue,
        };
        let total = words.filter_map(|word| word.strip_prefix("total="));
        columns("", &[name], total, emit);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::files::values::tests::{parsed, value};

    // Captured on Linux 6.18; the interrupt line is shortened.
    pub(crate) const STAT: &str = "\
cpu  8707 0 3932 212319 789 0 95 29 0 0
cpu0 3356 0 1563 107928 96 0 8 13 0 0
cpu1 5350 0 2369 104390 692 0 87 15 0 0
intr 305859 0 0 0 0 0 1 1 14
ctxt 555643
btime 1795195566
processes 8526
procs_running 3
procs_blocked 0
softirq 234877 0 21395 8 15060 121029 0 94 40686 0 36605
";
    pub(crate) const DISKSTATS: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 98834 27818 5147402 20729 30408 53603 5537624 30032 0 12132 51565 8273 40 661528 614 4257 189
   8       0 sda 1 2 3 4 5 6 7 8 9 10 11
 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
";
    pub(crate) const PRESSURE: &str = "\
some avg10=0.00 avg60=0.04 avg300=0.25 total=6852613
full avg10=0.00 avg60=0.04 avg300=0.22 total=6347069
";

    #[test]
    fn stat_gives_the_whole_host_and_not_each_cpu() {
        let values = parsed(stat, STAT);
        assert_eq!(value(&values, "cpu", "user"), Some(8707.0));
        assert_eq!(value(&values, "cpu", "steal"), Some(29.0));
        assert_eq!(value(&values, "", "ctxt"), Some(555_643.0));
        assert_eq!(value(&values, "", "intr"), Some(305_859.0));
        assert_eq!(value(&values, "", "procs_running"), Some(3.0));
        assert_eq!(values.len(), 8 + 5);
    }

    #[test]
    fn meminfo_gives_the_listed_names_only() {
        let text = "MemTotal:       24684092 kB\nActive(anon):      120 kB\nHugePages_Total:       8\nHugepagesize:       2048 kB\n";
        let values = parsed(meminfo, text);
        assert_eq!(value(&values, "", "MemTotal"), Some(24_684_092.0));
        assert_eq!(value(&values, "", "HugePages_Total"), Some(8.0));
        assert_eq!(values.len(), 2);
    }

    #[test]
    fn vmstat_takes_names_whole() {
        let text = "nr_dirty 50\nnr_dirty_threshold 1205571\nnr_dirty_x 1\npgfault 5092238\n";
        let values = parsed(vmstat, text);
        assert_eq!(value(&values, "", "nr_dirty"), Some(50.0));
        assert_eq!(value(&values, "", "nr_dirty_threshold"), Some(1_205_571.0));
        assert_eq!(values.len(), 3);
    }

    #[test]
    fn diskstats_leaves_out_devices_in_memory_and_takes_old_kernels() {
        let values = parsed(diskstats, DISKSTATS);
        assert_eq!(value(&values, "vda", "sectors_written"), Some(5_537_624.0));
        assert_eq!(value(&values, "vda", "flush_ms"), Some(189.0));
        assert_eq!(value(&values, "sda", "weighted_io_ms"), Some(11.0));
        assert_eq!(value(&values, "sda", "flush_ms"), None);
        assert_eq!(values.len(), 17 + 11);
    }

    #[test]
    fn loadavg_gives_the_first_minute() {
        let values = parsed(loadavg, "0.03 0.11 0.06 1/114 8522\n");
        assert_eq!(values, [("".to_owned(), "load1".to_owned(), 0.03)]);
        assert!(parsed(loadavg, "inf 1 1").is_empty());
    }

    #[test]
    fn pressure_gives_the_totals() {
        let values = parsed(pressure, PRESSURE);
        assert_eq!(value(&values, "", "some_us"), Some(6_852_613.0));
        assert_eq!(value(&values, "", "full_us"), Some(6_347_069.0));
    }
}
