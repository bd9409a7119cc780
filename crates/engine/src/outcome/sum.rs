//! Sums of rows.
//!
//! Enters: rows and counters. Leaves: counts, means and quantiles. Never: keeps a row.

use hdrhistogram::Histogram;

use crate::record::{Row, Total, histogram};

/// Counts and latencies, summed over rows.
#[derive(Debug, Default)]
pub struct Sum {
    /// Without its buckets.
    pub row: Row,
    pub service: Distribution,
    pub response: Distribution,
}

/// Durations and their distribution.
#[derive(Debug, Default)]
pub struct Distribution {
    total: Total,
    histogram: Option<Histogram<u64>>,
}

impl Sum {
    pub fn add(&mut self, row: &Row) {
        self.row.transactions += row.transactions;
        self.row.failed += row.failed;
        self.row.skipped += row.skipped;
        self.row.late += row.late;
        self.row.retried += row.retried;
        self.row.retries += row.retries;
        self.row.lag.merge(row.lag);
        self.row.connect.merge(row.connect);
        for &(failure, count) in &row.errors {
            self.row.count_error(failure, count);
        }
        self.service.add(row.service.total, &row.service.buckets);
        self.response.add(row.response.total, &row.response.buckets);
    }
}

impl Distribution {
    #[must_use]
    pub fn of(total: Total, latencies: Histogram<u64>) -> Distribution {
        Distribution {
            total,
            histogram: Some(latencies),
        }
    }

    fn add(&mut self, total: Total, buckets: &[(u64, u64)]) {
        self.total.merge(total);
        if buckets.is_empty() {
            return;
        }
        if self.histogram.is_none() {
            self.histogram = histogram().ok();
        }
        if let Some(histogram) = &mut self.histogram {
            for (value, count) in buckets {
                histogram.saturating_record_n(*value, *count);
            }
        }
    }

    /// The same with more durations added.
    #[must_use]
    pub fn with(mut self, durations_ns: &[u64]) -> Distribution {
        for &duration_ns in durations_ns {
            let mut total = Total::default();
            total.add(duration_ns);
            self.add(total, &[(duration_ns, 1)]);
        }
        self
    }

    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        self.total.mean_ns()
    }

    #[must_use]
    pub fn max_ns(&self) -> Option<f64> {
        self.total.max_ns()
    }

    /// The duration that a share `quantile` did not exceed.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> Option<f64> {
        let histogram = self.histogram.as_ref().filter(|h| !h.is_empty())?;
        // A bucket's upper end may lie beyond the greatest value in it.
        let value = histogram.value_at_quantile(quantile).min(self.total.max_ns);
        Some(value as f64)
    }
}
