//! What workers and the handle of a load share while it runs.
//!
//! Enters: counts, by relaxed atomics with one writer each. Leaves: totals for a progress line,
//! and the moment at which to stop. Never: locks; a reader may see counts a moment old.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

#[derive(Debug)]
pub struct Shared {
    limit_ns: AtomicI64,
    workers: Vec<Counters>,
}

/// A cache line of its own per worker.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counters {
    transactions: AtomicU64,
    failed: AtomicU64,
    /// The last whole interval: its start and what succeeded in it.
    interval_start_ns: AtomicI64,
    interval_transactions: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    pub transactions: u64,
    pub failed: u64,
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

    /// No transaction that ends from this moment on counts.
    pub fn limit(&self, limit_ns: i64) {
        self.limit_ns.fetch_min(limit_ns, Ordering::Relaxed);
    }

    #[must_use]
    pub fn limit_ns(&self) -> i64 {
        self.limit_ns.load(Ordering::Relaxed)
    }

    pub fn count_success(&self, worker: usize) {
        if let Some(counters) = self.workers.get(worker) {
            increment(&counters.transactions);
        }
    }

    pub fn count_failure(&self, worker: usize) {
        if let Some(counters) = self.workers.get(worker) {
            increment(&counters.failed);
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
        let mut totals = Totals {
            transactions: 0,
            failed: 0,
            interval_start_ns: 0,
            interval_transactions: 0,
        };
        for counters in &self.workers {
            totals.transactions += counters.transactions.load(Ordering::Relaxed);
            totals.failed += counters.failed.load(Ordering::Relaxed);
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

/// For one writer: a load and a store, without the bus lock of an atomic addition.
fn increment(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_up_workers_and_take_the_latest_interval() {
        let shared = Shared::new(3);
        shared.count_success(0);
        shared.count_success(2);
        shared.count_failure(1);
        shared.close_interval(0, 100, 5);
        shared.close_interval(1, 200, 7);
        shared.close_interval(2, 200, 8);
        let totals = shared.totals();
        assert_eq!((totals.transactions, totals.failed), (2, 1));
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
