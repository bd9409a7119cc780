//! What sampling costs the machine it runs on.
//!
//! Enters: readings of each thread's CPU clock, and counts. Leaves: [`Cost`]. Never: includes the
//! CPU time of the server's processes, which the host's counters have.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::schedule::SkippedTicks;

/// The cost of sampling.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// CPU time of the sampler's threads, without that of the server.
    pub cpu_s: f64,
    pub wait_ticks: u64,
    pub counter_reads: u64,
    pub host_reads: u64,
    /// Ticks of waits, counters and host read well after their time or not at all.
    pub late_ticks: u64,
    /// Ticks left out to spare a slow server.
    pub rested_ticks: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Costs {
    cpu_ns: AtomicU64,
    pub(crate) wait_ticks: AtomicU64,
    pub(crate) counter_reads: AtomicU64,
    pub(crate) host_reads: AtomicU64,
    pub(crate) late_ticks: AtomicU64,
    pub(crate) rested_ticks: AtomicU64,
}

impl Costs {
    /// Counts a tick, late or not, and the ticks skipped after it.
    pub(crate) fn count_ticks(&self, late: bool, skipped: SkippedTicks) {
        let late = u64::from(late) + skipped.missed;
        self.late_ticks.fetch_add(late, Ordering::Relaxed);
        self.rested_ticks
            .fetch_add(skipped.rested, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Cost {
        Cost {
            cpu_s: Duration::from_nanos(self.cpu_ns.load(Ordering::Relaxed)).as_secs_f64(),
            wait_ticks: self.wait_ticks.load(Ordering::Relaxed),
            counter_reads: self.counter_reads.load(Ordering::Relaxed),
            host_reads: self.host_reads.load(Ordering::Relaxed),
            late_ticks: self.late_ticks.load(Ordering::Relaxed),
            rested_ticks: self.rested_ticks.load(Ordering::Relaxed),
        }
    }
}

/// Measures the CPU time of the thread that creates it.
pub(crate) struct CpuMeter<'a> {
    costs: &'a Costs,
    seen_ns: u64,
}

impl<'a> CpuMeter<'a> {
    pub(crate) fn new(costs: &'a Costs) -> CpuMeter<'a> {
        CpuMeter { costs, seen_ns: 0 }
    }

    /// Adds the CPU time that this thread has used since the last call.
    pub(crate) fn count_cpu(&mut self) {
        let now_ns = thread_cpu_ns();
        let used_ns = now_ns.saturating_sub(self.seen_ns);
        self.seen_ns = now_ns;
        self.costs.cpu_ns.fetch_add(used_ns, Ordering::Relaxed);
    }
}

impl Drop for CpuMeter<'_> {
    fn drop(&mut self) {
        self.count_cpu();
    }
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds * 1_000_000_000 + nanoseconds
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn cpu_time_is_booked_and_only_once() {
        let costs = Costs::default();
        let mut meter = CpuMeter::new(&costs);
        let begun = Instant::now();
        while thread_cpu_ns() < 5_000_000 && begun.elapsed() < Duration::from_secs(20) {}
        meter.count_cpu();
        let first = costs.read().cpu_s;
        meter.count_cpu();
        assert!(first >= 0.005);
        assert!(costs.read().cpu_s < first + 0.005);
    }
}
