//! Sums of rows.
//!
//! Enters: rows and counters. Leaves: counts, means and quantiles. Never: keeps a row.

use hdrhistogram::Histogram;

use crate::record::{Buckets, Row, Total, histogram};

/// Counts and latencies, summed over rows.
#[derive(Debug, Default)]
pub struct Sum {
    /// Without its buckets.
    pub row: Row,
    pub service: Distribution,
    pub response: Distribution,
}

/// Durations and their distribution.
#[derive(Debug, Clone, Default)]
pub struct Distribution {
    total: Total,
    histogram: Option<Histogram<u64>>,
}

impl Sum {
    pub fn add(&mut self, row: &Row) {
        self.row.add(row);
        self.service.merge(row.service.total, &row.service.buckets);
        self.response
            .merge(row.response.total, &row.response.buckets);
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

    fn merge(&mut self, total: Total, buckets: &Buckets) {
        self.total.merge(total);
        for (value, count) in buckets.iter() {
            self.record(value, count);
        }
    }

    fn record(&mut self, value: u64, count: u64) {
        if self.histogram.is_none() {
            self.histogram = histogram().ok();
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record_n(value, count);
        }
    }

    /// The same with more durations added.
    #[must_use]
    pub fn with(&self, durations_ns: &[u64]) -> Distribution {
        let mut sum = self.clone();
        for &duration_ns in durations_ns {
            sum.total.add(duration_ns);
            sum.record(duration_ns, 1);
        }
        sum
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
