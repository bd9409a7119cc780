//! Counts of one scenario in one interval.
//!
//! Enters: one transaction at a time. Leaves: a row that merges with those of other workers by
//! addition. Never: allocates while it counts successes.

use hdrhistogram::Histogram;
use hdrhistogram::errors::CreationError;
use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use super::buckets::{BucketSums, Buckets};
use super::{Failure, duration_ns};
use crate::schedule::Position;

/// A histogram of latencies from 100 ns (resolution 64 ns, 0.3 % of 20 µs) to an hour; longer ones
/// count as an hour. Maximum, sum and mean are kept apart and exact.
const LOWEST_NS: u64 = 100;
pub const HIGHEST_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

pub fn histogram<C: hdrhistogram::Counter>() -> Result<Histogram<C>, CreationError> {
    Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
}

/// A histogram for thousands of commands: resolution 1 %, 3 kB at first, larger with the values.
pub fn growing_histogram() -> Result<Histogram<u64>, CreationError> {
    let mut histogram = Histogram::new_with_bounds(LOWEST_NS, 2 * LOWEST_NS, 2)?;
    histogram.auto(true);
    Ok(histogram)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowKey {
    pub position: Position,
    pub scenario: usize,
    /// Whether the row has transactions that ended in the position's slice and began before it.
    pub crosses: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub transactions: u64,
    pub failed: u64,
    /// Transactions not begun, because they would have begun too late.
    pub skipped: u64,
    /// Successes beyond the latency limit.
    pub late: u64,
    /// Transactions with more than one try, and their tries beyond the first.
    pub retried: u64,
    pub retries: u64,
    /// Service time of successes.
    pub service: Durations,
    /// Response time of successes from the intended start, in an open loop.
    pub response: Durations,
    /// Schedule lag of all transactions that ended.
    pub lag: Total,
    /// Sessions opened during the load.
    pub connect: Total,
    pub errors: Vec<(Failure, u64)>,
}

/// Durations with their distribution.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    pub total: Total,
    pub buckets: Buckets,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    pub count: u64,
    pub sum_ns: u64,
    pub max_ns: u64,
}

impl Total {
    pub fn add(&mut self, duration_ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(duration_ns);
        self.max_ns = self.max_ns.max(duration_ns);
    }

    pub fn merge(&mut self, other: Total) {
        self.count += other.count;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    #[must_use]
    pub fn max_ns(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max_ns as f64)
    }
}

impl Row {
    pub fn count_error(&mut self, failure: Failure, count: u64) {
        match self.errors.iter_mut().find(|(other, _)| *other == failure) {
            Some((_, total)) => *total += count,
            None => self.errors.push((failure, count)),
        }
    }

    /// Adds the counts of another row, but for its buckets.
    pub fn add(&mut self, other: &Row) {
        self.transactions += other.transactions;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.late += other.late;
        self.retried += other.retried;
        self.retries += other.retries;
        self.service.total.merge(other.service.total);
        self.response.total.merge(other.response.total);
        self.lag.merge(other.lag);
        self.connect.merge(other.connect);
        for &(failure, count) in &other.errors {
            self.count_error(failure, count);
        }
    }
}

/// Adds up the rows of workers or engines.
pub struct RowSums {
    row: Row,
    service: BucketSums,
    response: BucketSums,
}

impl RowSums {
    #[must_use]
    pub fn new() -> RowSums {
        RowSums {
            row: Row::default(),
            service: BucketSums::new(),
            response: BucketSums::new(),
        }
    }

    pub fn add(&mut self, row: &Row) {
        self.row.add(row);
        self.service.add(&row.service.buckets);
        self.response.add(&row.response.buckets);
    }

    /// The sum so far; that of the next rows begins anew.
    pub fn take(&mut self) -> Row {
        let mut row = std::mem::take(&mut self.row);
        row.service.buckets = self.service.take();
        row.response.buckets = self.response.take();
        row
    }
}

/// A row that is being counted.
pub struct Tally {
    pub row: Row,
    service: Histogram<u32>,
    response: Option<Histogram<u32>>,
}

impl Tally {
    /// Responses are counted in an open loop only, because a histogram takes 100 kB.
    pub fn new(is_open: bool) -> Result<Tally, CreationError> {
        Ok(Tally {
            row: Row::default(),
            service: histogram()?,
            response: is_open.then(histogram).transpose()?,
        })
    }

    pub fn serve(&mut self, duration_ns: u64) {
        self.row.service.total.add(duration_ns);
        self.service.saturating_record(duration_ns);
    }

    pub fn respond(&mut self, duration_ns: u64) {
        self.row.response.total.add(duration_ns);
        if let Some(response) = &mut self.response {
            response.saturating_record(duration_ns);
        }
    }

    /// Counts what successes and failures have in common.
    pub fn end(&mut self, attempt: &Attempt) {
        if attempt.tries > 1 {
            self.row.retried += 1;
            self.row.retries += u64::from(attempt.tries) - 1;
        }
        if let Some(due_ns) = attempt.due_ns {
            self.row.lag.add(duration_ns(due_ns, attempt.began_ns));
        }
    }

    /// Takes the row so far, if anything was counted, and starts a new one.
    pub fn take(&mut self) -> Option<Row> {
        if self.row == Row::default() {
            return None;
        }
        let mut row = std::mem::take(&mut self.row);
        row.service.buckets = take_buckets(&mut self.service);
        if let Some(response) = &mut self.response {
            row.response.buckets = take_buckets(response);
        }
        Some(row)
    }
}

fn take_buckets(histogram: &mut Histogram<u32>) -> Buckets {
    if histogram.is_empty() {
        return Buckets::default();
    }
    let steps = histogram.iter_recorded();
    let buckets =
        Buckets::of(steps.map(|step| (step.value_iterated_to(), u64::from(step.count_at_value()))));
    histogram.reset();
    buckets
}
