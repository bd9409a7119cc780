//! What one engine counted of its share of a load.
//!
//! Enters: the reports of its workers, or bytes. Leaves: one report, which merges with those of
//! other engines; bytes. Never: has a time of this host's clock: every time is since the start of
//! the load, because the clocks of hosts differ.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LoadTimes;
use super::parallel::in_parallel;
use crate::error::EngineError;
use crate::record::{CommandTally, FirstError, Report, Row, RowKey, RowSums, Total};
use crate::schedule::arrivals::Arrivals;
use crate::schedule::{Schedule, Span};

/// The first byte of a report as bytes. Count it up with every change of what follows.
const VERSION: u8 = 1;
/// Rows that one thread merges at a time.
const BATCH: usize = 64;

/// A thread that is busy for more than this share of its time limits the load.
const BUSY_SHARE: f64 = 0.9;
/// If transactions that had an idle connection begin later than this, and than this share of the
/// latency, the client, not the server, is too slow.
const OWN_LAG_NS: f64 = 1e6;
const OWN_LAG_SHARE: f64 = 0.1;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ShareReport {
    pub rows: BTreeMap<RowKey, Row>,
    /// By number of the step, those that had not begun too.
    pub steps: Vec<StepOutcome>,
    /// By number of the command; empty unless measured.
    pub commands: Vec<CommandTally>,
    /// By index of the slice.
    pub edge_lag_ns: Vec<i64>,
    pub first_error: Option<FirstError>,
    /// Successes in measured steps by number of the connection, for those that took part.
    pub connections: Vec<(usize, u64)>,
    pub lost_connections: u64,
    /// Transactions running at the end: their durations when they ended or were cut.
    pub unfinished_ns: Vec<u64>,
    /// From the loss of each connection until it was open again.
    pub outages: Vec<(i64, i64)>,
    /// How long it took to open all connections.
    pub connect_ns: i64,
    /// None if the load did not end before its schedule.
    pub end_ns: Option<i64>,
    /// Empty without a connection.
    pub backend: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepOutcome {
    /// CPU time of all threads, without busy polling.
    pub cpu_ns: i64,
    pub polled_ns: i64,
    /// CPU time of the worker that used most.
    pub busiest_ns: i64,
    pub own_lag: Total,
    /// Arrivals that had not begun when the step ended.
    pub backlog: u64,
    /// Whether an engine limited the load.
    pub client_limited: bool,
}

impl ShareReport {
    /// The report of one engine; without arrivals nothing was claimed of them.
    #[must_use]
    pub fn new(
        schedule: &Schedule,
        arrivals: Option<&Arrivals>,
        times: LoadTimes,
        mut workers: Vec<Report>,
    ) -> ShareReport {
        let start_ns = schedule.start_ns();
        let early = workers.iter().map(|worker| worker.ended_early_ns);
        // The load ended early only if every worker did; one without any connection at once.
        let early = early.collect::<Option<Vec<_>>>();
        let early_ns = early.map(|ends| ends.into_iter().max().unwrap_or(start_ns));
        let end_ns = times.limit_ns.min(early_ns.unwrap_or(i64::MAX));
        let rows = workers.iter_mut().map(|w| std::mem::take(&mut w.rows));
        let mut share = ShareReport {
            rows: merged_rows(rows.collect()),
            steps: vec![StepOutcome::default(); schedule.steps.len()],
            edge_lag_ns: vec![0; schedule.slices.len()],
            connect_ns: times.connect_ns,
            end_ns: (end_ns < i64::MAX).then(|| end_ns - start_ns),
            ..ShareReport::default()
        };
        for worker in workers {
            share.add_worker(worker, start_ns);
        }
        share.connections.sort_unstable();
        let ended = schedule.ended_at(end_ns);
        for (number, (step, span)) in share.steps.iter_mut().zip(&ended.steps).enumerate() {
            step.backlog += arrivals.map_or(0, |all| all.unclaimed(number, span.end_ns));
            step.client_limited = is_client_limited(step, span, &share.rows, number);
        }
        share
    }

    fn add_worker(&mut self, worker: Report, start_ns: i64) {
        for (total, step) in self.steps.iter_mut().zip(&worker.steps) {
            total.cpu_ns += step.cpu_ns + step.helper_cpu_ns;
            total.polled_ns += step.polled_ns;
            total.busiest_ns = total.busiest_ns.max(step.cpu_ns);
            total.own_lag.merge(step.own_lag);
            total.backlog += step.dropped;
        }
        self.add_commands(worker.commands);
        self.add_edge_lags(&worker.edge_lag_ns);
        for mut error in worker.first_errors {
            error.time_ns -= start_ns;
            self.add_first_error(Some(error));
        }
        self.connections.extend(worker.connections);
        self.lost_connections += worker.lost_connections;
        self.unfinished_ns.extend(worker.unfinished_ns);
        let outages = worker.outages.into_iter();
        self.outages
            .extend(outages.map(|(from_ns, to_ns)| (from_ns - start_ns, to_ns - start_ns)));
        worker.backend.clone_into(&mut self.backend);
    }

    /// The report that one engine would have made of the load of all of these, but for its
    /// backend. The load ended where the last of them ended, so that no transaction that was
    /// counted lies after its end.
    #[must_use]
    pub fn merged(mut reports: Vec<ShareReport>) -> ShareReport {
        let ends: Option<Vec<_>> = reports.iter().map(|report| report.end_ns).collect();
        let rows = reports.iter_mut().map(|r| std::mem::take(&mut r.rows));
        let mut merged = ShareReport {
            rows: merged_rows(rows.collect()),
            end_ns: ends.and_then(|ends| ends.into_iter().max()),
            ..ShareReport::default()
        };
        for report in reports {
            merged.add(report);
        }
        merged.connections.sort_unstable();
        merged
    }

    /// Adds everything but rows, end and backend.
    fn add(&mut self, other: ShareReport) {
        if self.steps.is_empty() {
            self.steps = vec![StepOutcome::default(); other.steps.len()];
            self.edge_lag_ns = vec![0; other.edge_lag_ns.len()];
        }
        for (total, step) in self.steps.iter_mut().zip(&other.steps) {
            total.cpu_ns += step.cpu_ns;
            total.polled_ns += step.polled_ns;
            total.busiest_ns = total.busiest_ns.max(step.busiest_ns);
            total.own_lag.merge(step.own_lag);
            total.backlog += step.backlog;
            total.client_limited |= step.client_limited;
        }
        self.add_commands(other.commands);
        self.add_edge_lags(&other.edge_lag_ns);
        self.add_first_error(other.first_error);
        self.connections.extend(other.connections);
        self.lost_connections += other.lost_connections;
        self.unfinished_ns.extend(other.unfinished_ns);
        self.outages.extend(other.outages);
        self.connect_ns = self.connect_ns.max(other.connect_ns);
    }

    fn add_commands(&mut self, commands: Vec<CommandTally>) {
        if self.commands.is_empty() {
            self.commands = commands;
        } else {
            for (total, tally) in self.commands.iter_mut().zip(&commands) {
                total.merge(tally);
            }
        }
    }

    fn add_edge_lags(&mut self, lags_ns: &[i64]) {
        for (longest, lag) in self.edge_lag_ns.iter_mut().zip(lags_ns) {
            *longest = (*lag).max(*longest);
        }
    }

    /// An error in a measured step is preferred to an earlier one of the warm-up.
    fn add_first_error(&mut self, error: Option<FirstError>) {
        let errors = self.first_error.take().into_iter().chain(error);
        self.first_error = errors.min_by_key(|error| (!error.measured, error.time_ns));
    }

    pub fn to_bytes(&self) -> Result<Vec<u8>, EngineError> {
        let bytes = postcard::to_allocvec(&(VERSION, self));
        bytes.map_err(|error| EngineError::Report(format!("this report cannot be sent: {error}")))
    }

    /// Reads the report of `host`, any name for it in messages.
    pub fn from_bytes(bytes: &[u8], host: &str) -> Result<ShareReport, EngineError> {
        let report = match bytes.split_first() {
            Some((&VERSION, report)) => report,
            Some(_) => {
                let problem = "was made by another version of pgassay; install the same version \
                               on every host";
                return Err(EngineError::Report(format!("{host} {problem}")));
            }
            None => return Err(EngineError::Report(format!("{host} is empty"))),
        };
        postcard::from_bytes(report)
            .map_err(|error| EngineError::Report(format!("{host} is damaged: {error}")))
    }
}

/// Adds up rows with equal keys.
fn merged_rows(mut parts: Vec<BTreeMap<RowKey, Row>>) -> BTreeMap<RowKey, Row> {
    if parts.len() < 2 {
        return parts.pop().unwrap_or_default();
    }
    let mut rows: Vec<(&RowKey, &Row)> = parts.iter().flatten().collect();
    // Stable and fast where sorted runs follow each other, as here.
    rows.sort_by_key(|(key, _)| **key);
    let of_key: Vec<&[(&RowKey, &Row)]> = rows.chunk_by(|one, next| one.0 == next.0).collect();
    let batches: Vec<_> = of_key.chunks(BATCH).collect();
    let merged = in_parallel(&batches, |batch| {
        let mut sums = RowSums::new();
        let mut merged = Vec::with_capacity(batch.len());
        for rows in *batch {
            for (_, row) in *rows {
                sums.add(row);
            }
            if let Some((key, _)) = rows.first() {
                merged.push((**key, sums.take()));
            }
        }
        merged
    });
    merged.into_iter().flatten().collect()
}

/// Whether an engine limited a step: a thread without idle time cannot send more, and one that
/// begins transactions late adds to the latency it measures.
fn is_client_limited(
    step: &StepOutcome,
    span: &Span,
    rows: &BTreeMap<RowKey, Row>,
    number: usize,
) -> bool {
    let duration_ns = (span.end_ns - span.start_ns) as f64;
    if step.busiest_ns as f64 > BUSY_SHARE * duration_ns {
        return true;
    }
    let Some(own_lag_ns) = step.own_lag.mean_ns() else {
        return false;
    };
    let mut service = Total::default();
    for (_, row) in rows.iter().filter(|(key, _)| key.position.step == number) {
        service.merge(row.service.total);
    }
    let service_ns = service.mean_ns().unwrap_or(0.0);
    own_lag_ns > OWN_LAG_NS.max(OWN_LAG_SHARE * service_ns)
}

#[cfg(test)]
mod tests;
