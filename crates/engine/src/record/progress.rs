//! The state that workers and the handle of a load share while it runs.
//!
//! Enters: counts, by relaxed atomics with one writer each. Leaves: totals for a progress line,
//! and the time at which to stop. Never: locks; a reader may read counts a moment old.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

#[derive(Debug)]
pub struct Shared {
    limit_ns: AtomicI64,
    workers: Vec<Counters>,
}

/// The counters of one worker, on a separate cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counters {
    transactions: AtomicU64,
    failed: AtomicU64,
    /// Sums over successes of latency, its square and the lag, as bits of a double.
    latency_ns: AtomicU64,
    latency_square: AtomicU64,
    lag_ns: AtomicU64,
    skipped: AtomicU64,
    retried: AtomicU64,
    retries: AtomicU64,
    /// The latest whole interval: its start and its successes.
    interval_start_ns: AtomicI64,
    interval_transactions: AtomicU64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    pub transactions: u64,
    pub failed: u64,
    pub skipped: u64,
    /// Transactions that were tried again, and the number of retries.
    pub retried: u64,
    pub retries: u64,
    /// Sums over successes: latency from the intended start, its square, and the part of it
    /// before the beginning.
    pub latency_ns: u64,
    pub latency_square: f64,
    pub lag_ns: u64,
    /// Start of the latest whole interval (0: none yet) and its successes.
    pub interval_start_ns: i64,
    pub interval_transactions: u64,
}

impl Shared {
    #[must_use]
    pub fn new(workers: usize) -> Arc<Shared> {
        Arc::new(Shared {
            limit_ns: AtomicI64::new(i64::MAX),
            workers: (0..workers).map(|_| Counters::default()).collect(),
        })
    }

    /// No transaction that ends from this time on is counted.
    pub fn limit(&self, limit_ns: i64) {
        self.limit_ns.fetch_min(limit_ns, Ordering::Relaxed);
    }

    #[must_use]
    pub fn limit_ns(&self) -> i64 {
        self.limit_ns.load(Ordering::Relaxed)
    }

    /// Counts a success with its latency from the intended start and its schedule lag.
    pub fn count_success(&self, worker: usize, latency_ns: u64, lag_ns: u64) {
        if let Some(counters) = self.workers.get(worker) {
            add(&counters.transactions, 1);
            add(&counters.latency_ns, latency_ns);
            add(&counters.lag_ns, lag_ns);
            let square = f64::from_bits(counters.latency_square.load(Ordering::Relaxed));
            let square = square + latency_ns as f64 * latency_ns as f64;
            counters
                .latency_square
                .store(square.to_bits(), Ordering::Relaxed);
        }
    }

    pub fn count_skipped(&self, worker: usize) {
        if let Some(counters) = self.workers.get(worker) {
            add(&counters.skipped, 1);
        }
    }

    /// Counts the end of a transaction after this many retries.
    pub fn count_retries(&self, worker: usize, retries: u64) {
        if let Some(counters) = self.workers.get(worker) {
            add(&counters.retried, 1);
            add(&counters.retries, retries);
        }
    }

    pub fn count_failure(&self, worker: usize) {
        if let Some(counters) = self.workers.get(worker) {
            add(&counters.failed, 1);
        }
    }

    pub fn close_interval(&self, worker: usize, start_ns: i64, transactions: u64) {
        if let Some(counters) = self.workers.get(worker) {
            counters
                .interval_transactions
                .store(transactions, Ordering::Relaxed);
            counters
                .interval_start_ns
                .store(start_ns, Ordering::Relaxed);
        }
    }

    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for counters in &self.workers {
            let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            totals.transactions += of(&counters.transactions);
            totals.failed += of(&counters.failed);
            totals.skipped += of(&counters.skipped);
            totals.retried += of(&counters.retried);
            totals.retries += of(&counters.retries);
            totals.latency_ns += of(&counters.latency_ns);
            totals.latency_square += f64::from_bits(of(&counters.latency_square));
            totals.lag_ns += of(&counters.lag_ns);
            let start_ns = counters.interval_start_ns.load(Ordering::Relaxed);
            if start_ns > totals.interval_start_ns {
                totals.interval_start_ns = start_ns;
                totals.interval_transactions = 0;
            }
            if start_ns == totals.interval_start_ns {
                totals.interval_transactions +=
                    counters.interval_transactions.load(Ordering::Relaxed);
            }
        }
        totals
    }
}

/// Adds for a single writer: a load and a store, without the bus lock of an atomic addition.
fn add(counter: &AtomicU64, amount: u64) {
    let sum = counter.load(Ordering::Relaxed).wrapping_add(amount);
    counter.store(sum, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_up_workers_and_take_the_latest_interval() {
        let shared = Shared::new(3);
        shared.count_success(0, 30, 10);
        shared.count_success(2, 40, 0);
        shared.count_skipped(1);
        shared.count_retries(1, 3);
        shared.count_failure(1);
        shared.close_interval(0, 100, 5);
        shared.close_interval(1, 200, 7);
        shared.close_interval(2, 200, 8);
        let totals = shared.totals();
        assert_eq!((totals.transactions, totals.failed), (2, 1));
        assert_eq!((totals.latency_ns, totals.lag_ns), (70, 10));
        assert!((totals.latency_square - 2500.0).abs() < 1e-9);
        let (retried, retries) = (totals.retried, totals.retries);
        assert_eq!((totals.skipped, retried, retries), (1, 1, 3));
        assert_eq!(
            (totals.interval_start_ns, totals.interval_transactions),
            (200, 15)
        );
    }

    #[test]
    fn the_earliest_limit_holds() {
        let shared = Shared::new(0);
        shared.limit(50);
        shared.limit(90);
        assert_eq!(shared.limit_ns(), 50);
    }
}
