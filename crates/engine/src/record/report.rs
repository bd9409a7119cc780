//! The report of one worker at its end.
//!
//! Enters: the counts of its recorder. Leaves: plain values to merge. Never: computes.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hdrhistogram::errors::CreationError;
use serde::{Deserialize, Serialize};

use super::row::{HIGHEST_NS, Row, RowKey, Total, growing_histogram};

/// Why a transaction failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Failure {
    Sqlstate([u8; 5]),
    /// The connection was lost.
    Connection,
    /// The script itself failed.
    Client,
}

impl Failure {
    /// The key of this failure in a result.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Failure::Sqlstate(code) => String::from_utf8_lossy(code).into_owned(),
            Failure::Connection => "connection".to_owned(),
            Failure::Client => "client".to_owned(),
        }
    }

    /// Whether the transaction may succeed if it is tried again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Failure::Sqlstate(code) if code == b"40001" || code == b"40P01")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstError {
    pub time_ns: i64,
    pub measured: bool,
    pub failure: Failure,
    pub message: String,
    pub scenario: usize,
}

#[derive(Debug, Default)]
pub struct Report {
    pub rows: BTreeMap<RowKey, Row>,
    pub steps: Vec<StepReport>,
    /// By number of the command, in measured steps; empty unless requested.
    pub commands: Vec<CommandTally>,
    /// Per slice, the longest delay until an idle connection switched at its start.
    pub edge_lag_ns: Vec<i64>,
    pub first_errors: Vec<FirstError>,
    /// Successes in measured steps by number of the connection, for those that took part.
    pub connections: Vec<(usize, u64)>,
    pub lost_connections: u64,
    /// Transactions running at the end, at most one per connection: how long each had taken when
    /// it ended or was cut.
    pub unfinished_ns: Vec<u64>,
    /// Periods from the loss of a connection until it was open again.
    pub outages: Vec<(i64, i64)>,
    /// When the worker had no more work, if that was before the schedule's end.
    pub ended_early_ns: Option<i64>,
    pub backend: &'static str,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct StepReport {
    /// CPU time without busy polling.
    pub cpu_ns: i64,
    pub polled_ns: i64,
    /// CPU time of the threads that open sessions for the worker.
    pub helper_cpu_ns: i64,
    /// Delays of arrivals that had an idle connection, which the client itself caused.
    pub own_lag: Total,
    /// Arrivals that were claimed and never begun.
    pub dropped: u64,
}

/// Executions of one command of a script.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CommandTally {
    pub total: Total,
    #[serde(with = "growing")]
    pub latencies: Histogram<u64>,
    pub failures: u64,
    pub retries: u64,
}

impl CommandTally {
    pub fn new() -> Result<CommandTally, CreationError> {
        Ok(CommandTally {
            total: Total::default(),
            latencies: growing_histogram()?,
            failures: 0,
            retries: 0,
        })
    }

    pub fn add(&mut self, duration_ns: u64) {
        self.total.add(duration_ns);
        // If memory runs out, the histogram loses this value but the total has it.
        let _ = self.latencies.record(duration_ns.min(HIGHEST_NS));
    }

    pub fn merge(&mut self, other: &CommandTally) {
        self.total.merge(other.total);
        // Histograms of one layout can always be added.
        let _ = self.latencies.add(&other.latencies);
        self.failures += other.failures;
        self.retries += other.retries;
    }
}

/// A growing histogram as values and counts.
mod growing {
    use hdrhistogram::Histogram;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::growing_histogram;

    pub fn serialize<S: Serializer>(
        histogram: &Histogram<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let steps = histogram.iter_recorded();
        let counts = steps.map(|step| (step.value_iterated_to(), step.count_at_value()));
        counts.collect::<Vec<_>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Histogram<u64>, D::Error> {
        let counts = Vec::<(u64, u64)>::deserialize(deserializer)?;
        let mut histogram = growing_histogram().map_err(D::Error::custom)?;
        for (value, count) in counts {
            histogram.record_n(value, count).map_err(D::Error::custom)?;
        }
        Ok(histogram)
    }
}
