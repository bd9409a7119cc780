//! How far a load is.
//!
//! Enters: what workers share, the schedule. Leaves: totals so far, and the rate of the latest whole
//! interval. Never: waits for a worker.

use pgassay_session::clock;
use serde::Serialize;

use crate::record::progress::Shared;
use crate::schedule::Schedule;

/// The progress of a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Progress {
    pub elapsed_s: f64,
    pub step: usize,
    pub clients: usize,
    pub measured: bool,
    pub transactions: u64,
    pub failed: u64,
    pub skipped: u64,
    pub retried: u64,
    pub retries: u64,
    /// Sums over successes: latency from the intended start, its square, and the schedule lag.
    pub latency_ms: f64,
    pub latency_ms2: f64,
    pub lag_ms: f64,
    pub tps: f64,
}

impl Progress {
    /// The totals so far; nothing of a schedule before it has begun.
    pub(crate) fn of(shared: &Shared, schedule: Option<&Schedule>) -> Progress {
        let totals = shared.totals();
        let mut progress = Progress {
            elapsed_s: 0.0,
            step: 0,
            clients: 0,
            measured: false,
            transactions: totals.transactions,
            failed: totals.failed,
            skipped: totals.skipped,
            retried: totals.retried,
            retries: totals.retries,
            latency_ms: totals.latency_ns as f64 / 1e6,
            latency_ms2: totals.latency_square / 1e12,
            lag_ms: totals.lag_ns as f64 / 1e6,
            tps: 0.0,
        };
        let Some(schedule) = schedule else {
            return progress;
        };
        let end_ns = schedule.end_ns().min(shared.limit_ns());
        let now_ns = clock::now_ns().clamp(schedule.start_ns(), end_ns.max(schedule.start_ns()));
        progress.elapsed_s = (now_ns - schedule.start_ns()) as f64 / 1e9;
        // At the end of the load the last step is shown.
        let position = schedule.position(now_ns.min(end_ns.saturating_sub(1)));
        let step = position.map_or(0, |position| position.step);
        if let Some(span) = schedule.steps.get(step) {
            progress.step = step;
            progress.clients = span.clients;
            progress.measured = span.measured;
        }
        if let Some(position) = schedule.position(totals.interval_start_ns) {
            let (start_ns, end_ns) = schedule.bounds(position);
            progress.tps = totals.interval_transactions as f64 * 1e9 / (end_ns - start_ns) as f64;
        }
        progress
    }
}
