//! What one worker counts.
//!
//! Enters: ends of transactions with their time. Leaves: a row per interval and scenario, and
//! what is kept per step, per scenario and of the first error. Never: allocates per transaction,
//! or counts one that ends outside the schedule.

use std::collections::BTreeMap;
use std::sync::Arc;

use hdrhistogram::Histogram;
use hdrhistogram::errors::CreationError;
use rustix::time::{ClockId, clock_gettime};

use crate::progress::Shared;
use crate::schedule::{Position, Schedule, Span};

/// Latencies from 100 ns (kept to 64 ns, 0.3 % of 20 µs) to an hour; what is longer counts as
/// an hour, but for the maximum, the sum and the mean, which are exact.
const LOWEST_NS: u64 = 100;
const HIGHEST_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

pub fn histogram<C: hdrhistogram::Counter>() -> Result<Histogram<C>, CreationError> {
    Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
}

/// Why a transaction failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    Sqlstate([u8; 5]),
    /// The connection was lost.
    Connection,
    /// The script's own mistake.
    Client,
}

impl Failure {
    /// The key under which it is reported.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Failure::Sqlstate(code) => String::from_utf8_lossy(code).into_owned(),
            Failure::Connection => "connection".to_owned(),
            Failure::Client => "client".to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstError {
    pub time_ns: i64,
    pub measured: bool,
    pub failure: Failure,
    pub message: String,
    pub scenario: usize,
}

/// Counts of one scenario in one interval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    pub transactions: u64,
    pub failed: u64,
    pub latency_sum_ns: u64,
    pub latency_max_ns: u64,
    /// The highest value of each bucket in use, ascending, and its count.
    pub buckets: Vec<(u64, u64)>,
}

pub type RowKey = (Position, usize);

/// All that a worker has to tell at its end.
#[derive(Debug, Default)]
pub struct Report {
    pub rows: BTreeMap<RowKey, Row>,
    /// CPU time of the worker per step.
    pub step_cpu_ns: Vec<i64>,
    /// Per scenario, in measured steps.
    pub errors: Vec<BTreeMap<Failure, u64>>,
    pub first_errors: Vec<FirstError>,
    /// Successes in measured steps by number of the connection, for those that took part.
    pub connections: Vec<(usize, u64)>,
    pub lost_connections: u64,
    /// When the worker had nothing more to do, if that was before the schedule's end.
    pub ended_early_ns: Option<i64>,
    pub backend: &'static str,
}

struct Tally {
    row: Row,
    latencies: Histogram<u32>,
}

pub struct Recorder {
    schedule: Schedule,
    shared: Arc<Shared>,
    worker: usize,
    position: Option<Position>,
    /// When the interval under way ends.
    until_ns: i64,
    tallies: Vec<Tally>,
    report: Report,
    cpu_mark_ns: i64,
}

impl Recorder {
    pub fn new(
        schedule: Schedule,
        scenarios: usize,
        shared: Arc<Shared>,
        worker: usize,
    ) -> Result<Recorder, CreationError> {
        let tallies = (0..scenarios)
            .map(|_| {
                Ok(Tally {
                    row: Row::default(),
                    latencies: histogram()?,
                })
            })
            .collect::<Result<_, CreationError>>()?;
        Ok(Recorder {
            report: Report {
                step_cpu_ns: vec![0; schedule.steps.len()],
                errors: vec![BTreeMap::new(); scenarios],
                ..Report::default()
            },
            until_ns: schedule.start_ns(),
            schedule,
            shared,
            worker,
            position: None,
            tallies,
            cpu_mark_ns: 0,
        })
    }

    /// The step under way; none before the start and after the end.
    #[must_use]
    pub fn step(&self) -> Option<&Span> {
        self.position
            .and_then(|position| self.schedule.step(position))
    }

    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    /// The end of the schedule as it stands now: `stop` may have brought it forward.
    #[must_use]
    pub fn end_ns(&self) -> i64 {
        self.schedule.end_ns().min(self.shared.limit_ns())
    }

    /// The next moment at which something is to be done.
    #[must_use]
    pub fn until_ns(&self) -> i64 {
        self.until_ns
    }

    /// Moves on to the interval of `now_ns`. Cheap while that is the one under way.
    pub fn advance(&mut self, now_ns: i64) {
        if now_ns >= self.until_ns || now_ns >= self.shared.limit_ns() {
            self.change_interval(now_ns);
        }
    }

    fn change_interval(&mut self, now_ns: i64) {
        let next = if now_ns >= self.shared.limit_ns() {
            None
        } else {
            self.schedule.position(now_ns)
        };
        if next == self.position {
            return;
        }
        self.seal();
        let step = |position: Option<Position>| position.map(|position| position.step);
        if step(next) != step(self.position) {
            self.account_cpu();
        }
        self.position = next;
        self.until_ns = match next {
            Some(position) => self.schedule.bounds(position).1,
            None => i64::MAX,
        };
    }

    /// Books the CPU time since the last step began.
    fn account_cpu(&mut self) {
        let now_ns = thread_cpu_ns();
        let step = self.position.map(|position| position.step);
        if let Some(total) = step.and_then(|step| self.report.step_cpu_ns.get_mut(step)) {
            *total += now_ns - self.cpu_mark_ns;
        }
        self.cpu_mark_ns = now_ns;
    }

    /// Closes the rows of the interval under way.
    fn seal(&mut self) {
        let Some(position) = self.position else {
            return;
        };
        let mut transactions = 0;
        for (scenario, tally) in self.tallies.iter_mut().enumerate() {
            let mut row = std::mem::take(&mut tally.row);
            if row.transactions + row.failed == 0 {
                continue;
            }
            transactions += row.transactions;
            row.buckets = buckets(&tally.latencies);
            tally.latencies.reset();
            self.report.rows.insert((position, scenario), row);
        }
        let (start_ns, _) = self.schedule.bounds(position);
        self.shared
            .close_interval(self.worker, start_ns, transactions);
    }

    /// A transaction succeeded at `now_ns`; false if that does not count any more.
    pub fn success(&mut self, now_ns: i64, scenario: usize, latency_ns: i64) -> bool {
        self.advance(now_ns);
        let (Some(_), Some(tally)) = (self.position, self.tallies.get_mut(scenario)) else {
            return false;
        };
        let latency_ns = u64::try_from(latency_ns).unwrap_or(0);
        tally.row.transactions += 1;
        tally.row.latency_sum_ns = tally.row.latency_sum_ns.saturating_add(latency_ns);
        tally.row.latency_max_ns = tally.row.latency_max_ns.max(latency_ns);
        tally.latencies.saturating_record(latency_ns);
        self.shared.count_success(self.worker);
        true
    }

    /// A transaction failed at `now_ns`; `message` is asked for only if it is the first.
    pub fn failure(
        &mut self,
        now_ns: i64,
        scenario: usize,
        failure: Failure,
        message: impl FnOnce() -> String,
    ) {
        self.advance(now_ns);
        let Some(measured) = self.step().map(|step| step.measured) else {
            return;
        };
        if let Some(tally) = self.tallies.get_mut(scenario) {
            tally.row.failed += 1;
        }
        self.shared.count_failure(self.worker);
        if measured && let Some(errors) = self.report.errors.get_mut(scenario) {
            *errors.entry(failure).or_default() += 1;
        }
        let firsts = &mut self.report.first_errors;
        if !firsts.iter().any(|first| first.measured == measured) {
            firsts.push(FirstError {
                time_ns: now_ns,
                measured,
                failure,
                message: message(),
                scenario,
            });
        }
    }

    /// Whether the message of a failure now may be the first of its kind.
    #[must_use]
    pub fn wants_message(&self) -> bool {
        self.report.first_errors.len() < 2
    }

    pub fn lose_connection(&mut self) {
        self.report.lost_connections += 1;
    }

    /// The worker has nothing more to do, before the schedule's end.
    pub fn end_early(&mut self, now_ns: i64) {
        self.seal();
        self.account_cpu();
        self.position = None;
        self.until_ns = i64::MAX;
        self.report.ended_early_ns = Some(now_ns);
    }

    #[must_use]
    pub fn into_report(mut self) -> Report {
        self.seal();
        self.account_cpu();
        self.report
    }
}

fn buckets(latencies: &Histogram<u32>) -> Vec<(u64, u64)> {
    latencies
        .iter_recorded()
        .map(|step| (step.value_iterated_to(), u64::from(step.count_at_value())))
        .collect()
}

fn thread_cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

impl Row {
    /// Adds the counts of another worker.
    pub fn merge(&mut self, other: &Row) {
        self.transactions += other.transactions;
        self.failed += other.failed;
        self.latency_sum_ns = self.latency_sum_ns.saturating_add(other.latency_sum_ns);
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
        let mut merged: BTreeMap<u64, u64> = self.buckets.iter().copied().collect();
        for (value, count) in &other.buckets {
            *merged.entry(*value).or_default() += count;
        }
        self.buckets = merged.into_iter().collect();
    }
}

#[cfg(test)]
mod tests;
