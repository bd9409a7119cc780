//! Writes rows per interval and scenario as columns.
//!
//! Enters: an [`Outcome`]. Leaves: columns of equal length. Never: leaves out an interval in
//! which no transaction ended, because it may be a stall.

use super::Outcome;
use crate::record::{Row, RowKey};

/// Leading bits of a stored duration: 256 buckets in each power of two, each 0.2 to 0.4 % wide.
/// They need half the storage of buckets with three decimal digits.
pub const LEADING_BITS: u32 = 9;

/// One row per interval and scenario, in order of time. Where slices are run an interval is cut
/// at their edges, and transactions that cross an edge have a row of their own, without a slice,
/// in the interval in which they end.
#[derive(Debug, Default)]
pub struct Intervals {
    /// The names for the indexes in `scenario`.
    pub scenario_names: Vec<String>,
    pub start_ns: Vec<i64>,
    pub step: Vec<usize>,
    pub slice: Vec<Option<usize>>,
    pub measured: Vec<bool>,
    pub scenario: Vec<usize>,
    pub transactions: Vec<u64>,
    pub failed: Vec<u64>,
    pub error_sqlstate: Vec<Vec<String>>,
    pub error_count: Vec<Vec<u64>>,
    pub retried: Vec<u64>,
    pub retries: Vec<u64>,
    pub skipped: Vec<u64>,
    pub late: Vec<u64>,
    pub latency_sum_ns: Vec<u64>,
    pub latency_ns: Vec<Vec<u64>>,
    pub latency_count: Vec<Vec<u64>>,
    pub response_sum_ns: Vec<u64>,
    pub response_ns: Vec<Vec<u64>>,
    pub response_count: Vec<Vec<u64>>,
    /// Schedule lag: from intended starts to beginnings.
    pub lag_sum_ns: Vec<u64>,
    pub lag_max_ns: Vec<u64>,
    /// Sessions opened during the load, by the scenario that their client ran last.
    pub connects: Vec<u64>,
    pub connect_sum_ns: Vec<u64>,
}

impl Outcome {
    #[must_use]
    pub fn intervals(&self) -> Intervals {
        let mut columns = Intervals {
            scenario_names: self.scenarios.iter().map(|s| s.name.clone()).collect(),
            ..Intervals::default()
        };
        let none = Row::default();
        for step in &self.schedule.steps {
            let mut start_ns = step.start_ns;
            while let Some(position) = self.schedule.position(start_ns) {
                let (_, end_ns) = self.schedule.bounds(position);
                for scenario in 0..self.scenarios.len() {
                    let key = |crosses| RowKey {
                        position,
                        scenario,
                        crosses,
                    };
                    let row = self.report.rows.get(&key(false)).unwrap_or(&none);
                    columns.push(start_ns, step.measured, &key(false), row);
                    if let Some(row) = self.report.rows.get(&key(true)) {
                        columns.push(start_ns, step.measured, &key(true), row);
                    }
                }
                start_ns = end_ns;
                if start_ns >= step.end_ns {
                    break;
                }
            }
        }
        columns
    }
}

impl Intervals {
    fn push(&mut self, start_ns: i64, measured: bool, key: &RowKey, row: &Row) {
        self.start_ns.push(start_ns);
        self.step.push(key.position.step);
        self.slice.push(key.position.slice.filter(|_| !key.crosses));
        self.measured.push(measured);
        self.scenario.push(key.scenario);
        self.transactions.push(row.transactions);
        self.failed.push(row.failed);
        let mut errors = row.errors.clone();
        errors.sort_unstable();
        let (failures, counts): (Vec<_>, Vec<_>) = errors.into_iter().unzip();
        self.error_sqlstate
            .push(failures.iter().map(|failure| failure.name()).collect());
        self.error_count.push(counts);
        self.retried.push(row.retried);
        self.retries.push(row.retries);
        self.skipped.push(row.skipped);
        self.late.push(row.late);
        self.latency_sum_ns.push(row.service.total.sum_ns);
        let (values, counts) = stored(row.service.buckets.iter());
        self.latency_ns.push(values);
        self.latency_count.push(counts);
        self.response_sum_ns.push(row.response.total.sum_ns);
        let (values, counts) = stored(row.response.buckets.iter());
        self.response_ns.push(values);
        self.response_count.push(counts);
        self.lag_sum_ns.push(row.lag.sum_ns);
        self.lag_max_ns.push(row.lag.max_ns);
        self.connects.push(row.connect.count);
        self.connect_sum_ns.push(row.connect.sum_ns);
    }
}

/// The highest value of each used bucket, ascending, and its count.
fn stored(buckets: impl Iterator<Item = (u64, u64)>) -> (Vec<u64>, Vec<u64>) {
    let (mut highest, mut counts) = (Vec::<u64>::new(), Vec::<u64>::new());
    for (value, count) in buckets {
        let dropped = (u64::BITS - value.leading_zeros()).saturating_sub(LEADING_BITS);
        let edge = value | ((1 << dropped) - 1);
        match counts.last_mut() {
            Some(last) if highest.last() == Some(&edge) => *last += count,
            _ => {
                highest.push(edge);
                counts.push(count);
            }
        }
    }
    (highest, counts)
}

#[cfg(test)]
mod tests {
    use super::stored;

    #[test]
    fn stored_buckets_are_at_most_four_thousandths_wide_and_lose_no_count() {
        let buckets: Vec<_> = (1..2_000_000).step_by(37).map(|value| (value, 1)).collect();
        let (highest, counts) = stored(buckets.iter().copied());
        assert!(highest.is_sorted_by(|one, next| one < next));
        assert_eq!(counts.iter().sum::<u64>(), buckets.len() as u64);
        let mut values = buckets.iter().map(|(value, _)| *value);
        for (edge, count) in highest.iter().zip(counts) {
            for value in values.by_ref().take(count as usize) {
                assert!(value <= *edge && (edge - value) as f64 <= 0.004 * value as f64);
            }
        }
    }

    #[test]
    fn what_nobody_counted_has_no_bucket() {
        assert_eq!(stored([].into_iter()), (Vec::new(), Vec::new()));
        assert_eq!(
            stored([(0, 2), (u64::MAX, 1)].into_iter()),
            (vec![0, u64::MAX], vec![2, 1])
        );
    }
}
