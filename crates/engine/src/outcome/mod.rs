//! The outcome of a load: the merged reports of all workers.
//!
//! Enters: reports. Leaves: rows per interval and scenario, and the sums that `result` shows.
//! Never: knows JSON or Python.

mod intervals;
mod json;
mod sum;

use std::collections::BTreeMap;

use crate::record::{CommandTally, FirstError, Report, Row, RowKey, Total};
use crate::schedule::arrivals::Arrivals;
use crate::schedule::{Position, Schedule};
use crate::setup::Setup;
pub use intervals::{Intervals, LEADING_BITS};
pub use sum::{Distribution, Sum};

/// A thread that is busy for more than this share of its time limits the load.
const BUSY_SHARE: f64 = 0.9;
/// If transactions that had an idle connection begin later than this, and than this share of the
/// latency, the client, not the server, is too slow.
const OWN_LAG_NS: f64 = 1e6;
const OWN_LAG_SHARE: f64 = 0.1;

#[derive(Debug)]
pub struct Outcome {
    /// The schedule as it was carried out.
    pub schedule: Schedule,
    pub rows: BTreeMap<RowKey, Row>,
    pub steps: Vec<StepOutcome>,
    pub scenarios: Vec<ScenarioOutcome>,
    /// By number of the command; empty unless measured.
    pub statements: Vec<StatementOutcome>,
    /// By index of the scenario in the configuration.
    pub variants: Vec<String>,
    pub edge_lag_ns: Vec<i64>,
    pub first_error: Option<FirstError>,
    /// Successes in measured steps, for each connection that took part.
    pub connections: Vec<u64>,
    pub lost_connections: u64,
    /// Transactions running at the end: their durations when they ended or were cut.
    pub unfinished_ns: Vec<u64>,
    /// In order of time, none overlapping another.
    pub outages: Vec<Outage>,
    /// How long it took to open all connections.
    pub connect_ns: i64,
    pub backend: &'static str,
}

#[derive(Debug)]
pub struct ScenarioOutcome {
    pub name: String,
    pub weight: f64,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct StepOutcome {
    /// CPU time of all threads, without busy polling.
    pub cpu_ns: i64,
    pub polled_ns: i64,
    /// CPU time of the worker that used most.
    pub busiest_ns: i64,
    pub own_lag: Total,
    /// Arrivals that had not begun when the step ended.
    pub backlog: u64,
}

#[derive(Debug)]
pub struct StatementOutcome {
    pub scenario: usize,
    pub line: usize,
    pub command: String,
    pub latency: Distribution,
    pub failures: u64,
    pub retries: u64,
}

/// A period in which connections were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    pub start_ns: i64,
    pub end_ns: i64,
    pub connections: u64,
}

/// Times that only the handle of the load knows.
#[derive(Debug, Clone, Copy)]
pub struct LoadTimes {
    /// When a stop was requested, if before the end.
    pub limit_ns: i64,
    pub connect_ns: i64,
}

impl Outcome {
    #[must_use]
    pub fn new(
        setup: &Setup,
        schedule: Schedule,
        arrivals: &Arrivals,
        times: LoadTimes,
        reports: Vec<Report>,
    ) -> Outcome {
        let early = reports.iter().map(|report| report.ended_early_ns);
        // The load ended early only if every worker did; one without any connection at once.
        let early = early.collect::<Option<Vec<_>>>();
        let early_ns = early.map(|ends| ends.into_iter().max().unwrap_or(schedule.start_ns()));
        let end_ns = times.limit_ns.min(early_ns.unwrap_or(i64::MAX));
        let schedule = schedule.ended_at(end_ns);
        let scenarios = setup.configuration.scenarios.iter();
        let mut outcome = Outcome {
            steps: vec![StepOutcome::default(); schedule.steps.len()],
            edge_lag_ns: vec![0; schedule.slices.len()],
            schedule,
            rows: BTreeMap::new(),
            scenarios: scenarios
                .map(|scenario| ScenarioOutcome {
                    name: scenario.name.clone(),
                    weight: scenario.weight,
                })
                .collect(),
            statements: Vec::new(),
            variants: setup.variants.iter().map(|v| v.name.clone()).collect(),
            first_error: None,
            connections: Vec::new(),
            lost_connections: 0,
            unfinished_ns: Vec::new(),
            outages: Vec::new(),
            connect_ns: times.connect_ns,
            backend: "",
        };
        let mut connections = BTreeMap::new();
        let mut tallies: Vec<CommandTally> = Vec::new();
        let mut outages = Vec::new();
        for report in reports {
            outcome.add(&report);
            connections.extend(report.connections);
            outages.extend(report.outages);
            if tallies.is_empty() {
                tallies = report.commands;
            } else {
                for (total, tally) in tallies.iter_mut().zip(&report.commands) {
                    total.merge(tally);
                }
            }
        }
        outcome.connections = connections.into_values().collect();
        outcome.outages = merged_outages(outages);
        let commands = setup.program.commands.iter().zip(tallies);
        outcome.statements = commands
            .map(|(command, tally)| StatementOutcome {
                scenario: command.scenario,
                line: command.line,
                command: command.text.clone(),
                latency: Distribution::of(tally.total, tally.latencies),
                failures: tally.failures,
                retries: tally.retries,
            })
            .collect();
        for (number, step) in outcome.steps.iter_mut().enumerate() {
            if let Some(span) = outcome.schedule.steps.get(number) {
                step.backlog += arrivals.unclaimed(number, span.end_ns);
            }
        }
        outcome
    }

    fn add(&mut self, report: &Report) {
        for (key, row) in &report.rows {
            self.rows.entry(*key).or_default().merge(row);
        }
        for (total, step) in self.steps.iter_mut().zip(&report.steps) {
            total.cpu_ns += step.cpu_ns + step.helper_cpu_ns;
            total.polled_ns += step.polled_ns;
            total.busiest_ns = total.busiest_ns.max(step.cpu_ns);
            total.own_lag.merge(step.own_lag);
            total.backlog += step.dropped;
        }
        for (longest, lag) in self.edge_lag_ns.iter_mut().zip(&report.edge_lag_ns) {
            *longest = (*lag).max(*longest);
        }
        // An error in a measured step is preferred to an earlier one of the warm-up.
        let first = self.first_error.iter().chain(&report.first_errors);
        self.first_error = first
            .min_by_key(|error| (!error.measured, error.time_ns))
            .cloned();
        self.lost_connections += report.lost_connections;
        self.unfinished_ns.extend(&report.unfinished_ns);
        self.backend = report.backend;
    }

    /// Sums of the rows for which `select` is true.
    #[must_use]
    pub fn sum(&self, select: impl Fn(&RowKey) -> bool) -> Sum {
        let mut sum = Sum::default();
        for (_, row) in self.rows.iter().filter(|(key, _)| select(key)) {
            sum.add(row);
        }
        sum
    }

    /// Sums of the rows of one slice: transactions that began in it, or those that began before
    /// it.
    #[must_use]
    pub fn sum_of_slice(&self, index: usize, crosses: bool) -> Sum {
        let mut sum = Sum::default();
        let Some(slice) = self.schedule.slices.get(index) else {
            return sum;
        };
        let key = |time_ns, scenario| {
            let position = self.schedule.position(time_ns)?;
            Some(RowKey {
                position,
                scenario,
                crosses: scenario > 0,
            })
        };
        let first = key(slice.start_ns, 0);
        let last = key(slice.end_ns - 1, usize::MAX);
        if let (Some(first), Some(last)) = (first, last) {
            let rows = self.rows.range(first..=last);
            for (_, row) in rows.filter(|(key, _)| key.crosses == crosses) {
                sum.add(row);
            }
        }
        sum
    }

    #[must_use]
    pub fn is_measured(&self, position: Position) -> bool {
        self.schedule
            .step(position)
            .is_some_and(|step| step.measured)
    }

    /// Whether the client limited a step: a thread without idle time cannot send more, and one
    /// that begins transactions late adds to the latency it measures.
    #[must_use]
    pub fn is_client_limited(&self, step: usize) -> bool {
        let (Some(span), Some(step)) = (self.schedule.steps.get(step), self.steps.get(step)) else {
            return false;
        };
        let duration_ns = (span.end_ns - span.start_ns) as f64;
        if step.busiest_ns as f64 > BUSY_SHARE * duration_ns {
            return true;
        }
        let Some(own_lag_ns) = step.own_lag.mean_ns() else {
            return false;
        };
        let mut service = Total::default();
        let of_step = |key: &RowKey| {
            let start_ns = self.schedule.step(key.position).map(|step| step.start_ns);
            start_ns == Some(span.start_ns)
        };
        for (_, row) in self.rows.iter().filter(|(key, _)| of_step(key)) {
            service.merge(row.service.total);
        }
        let service_ns = service.mean_ns().unwrap_or(0.0);
        own_lag_ns > OWN_LAG_NS.max(OWN_LAG_SHARE * service_ns)
    }
}

/// Merges overlapping outages.
fn merged_outages(mut outages: Vec<(i64, i64)>) -> Vec<Outage> {
    outages.sort_unstable();
    let mut merged_outages: Vec<Outage> = Vec::new();
    for (start_ns, end_ns) in outages {
        match merged_outages.last_mut() {
            Some(last) if start_ns <= last.end_ns => {
                last.end_ns = last.end_ns.max(end_ns);
                last.connections += 1;
            }
            _ => merged_outages.push(Outage {
                start_ns,
                end_ns,
                connections: 1,
            }),
        }
    }
    merged_outages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_that_overlap_are_one() {
        let outage = |start_ns, end_ns, connections| Outage {
            start_ns,
            end_ns,
            connections,
        };
        let found = merged_outages(vec![(30, 40), (0, 10), (5, 20), (20, 21)]);
        assert_eq!(found, [outage(0, 21, 3), outage(30, 40, 1)]);
    }
}
