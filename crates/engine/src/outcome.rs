//! The outcome of a load: reports of all workers as one.
//!
//! Enters: reports. Leaves: rows per interval and scenario, and the sums that `result` shows.
//! Never: knows JSON or Python.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::config::Configuration;
use crate::record::{Failure, FirstError, Report, Row, RowKey, histogram};
use crate::schedule::{Position, Schedule};

#[derive(Debug)]
pub struct Outcome {
    /// The schedule as it came about.
    pub schedule: Schedule,
    pub rows: BTreeMap<RowKey, Row>,
    pub step_cpu_ns: Vec<i64>,
    pub scenarios: Vec<ScenarioOutcome>,
    pub first_error: Option<FirstError>,
    /// Successes in measured steps of each connection that took part.
    pub connections: Vec<u64>,
    pub lost_connections: u64,
    pub backend: &'static str,
}

#[derive(Debug)]
pub struct ScenarioOutcome {
    pub name: String,
    pub weight: f64,
    /// In measured steps.
    pub errors: BTreeMap<Failure, u64>,
}

/// Columns of equal length: one row per interval and scenario, in order of time.
#[derive(Debug, Default)]
pub struct Intervals {
    /// What the numbers in `scenario` stand for.
    pub scenario_names: Vec<String>,
    pub start_ns: Vec<i64>,
    pub step: Vec<usize>,
    pub measured: Vec<bool>,
    pub scenario: Vec<usize>,
    pub transactions: Vec<u64>,
    pub failed: Vec<u64>,
    pub latency_sum_ns: Vec<u64>,
    pub latency_ns: Vec<Vec<u64>>,
    pub latency_count: Vec<Vec<u64>>,
}

impl Outcome {
    /// `limit_ns` is when a stop was asked for, if before the end.
    #[must_use]
    pub fn new(
        configuration: &Configuration,
        schedule: Schedule,
        limit_ns: i64,
        reports: Vec<Report>,
    ) -> Outcome {
        let early = reports.iter().map(|report| report.ended_early_ns);
        // The load ended early only if every worker did.
        let early = early.collect::<Option<Vec<_>>>();
        let early_ns = early.and_then(|ends| ends.into_iter().max());
        let end_ns = limit_ns.min(early_ns.unwrap_or(i64::MAX));
        let mut outcome = Outcome {
            step_cpu_ns: vec![0; schedule.steps.len()],
            schedule: schedule.ended_at(end_ns),
            rows: BTreeMap::new(),
            scenarios: configuration
                .scenarios
                .iter()
                .map(|scenario| ScenarioOutcome {
                    name: scenario.name.clone(),
                    weight: scenario.weight,
                    errors: BTreeMap::new(),
                })
                .collect(),
            first_error: None,
            connections: Vec::new(),
            lost_connections: 0,
            backend: "",
        };
        let mut connections = BTreeMap::new();
        for report in reports {
            outcome.add(&report);
            connections.extend(report.connections);
        }
        outcome.connections = connections.into_values().collect();
        outcome
    }

    fn add(&mut self, report: &Report) {
        for (key, row) in &report.rows {
            self.rows.entry(*key).or_default().merge(row);
        }
        for (total, cpu_ns) in self.step_cpu_ns.iter_mut().zip(&report.step_cpu_ns) {
            *total += cpu_ns;
        }
        for (scenario, errors) in self.scenarios.iter_mut().zip(&report.errors) {
            for (failure, count) in errors {
                *scenario.errors.entry(*failure).or_default() += count;
            }
        }
        // One of a measured step tells more than an earlier one of the warm-up.
        let first = self.first_error.iter().chain(&report.first_errors);
        self.first_error = first
            .min_by_key(|error| (!error.measured, error.time_ns))
            .cloned();
        self.lost_connections += report.lost_connections;
        self.backend = report.backend;
    }

    /// Sums of the rows that `select` takes.
    #[must_use]
    pub fn sum(&self, select: impl Fn(Position, usize) -> bool) -> Sum {
        let mut sum = Sum::default();
        let rows = self.rows.iter();
        for (_, row) in rows.filter(|((position, scenario), _)| select(*position, *scenario)) {
            sum.add(row);
        }
        sum
    }

    #[must_use]
    pub fn is_measured(&self, position: Position) -> bool {
        self.schedule
            .step(position)
            .is_some_and(|step| step.measured)
    }

    #[must_use]
    pub fn intervals(&self) -> Intervals {
        let mut columns = Intervals {
            scenario_names: self.scenarios.iter().map(|s| s.name.clone()).collect(),
            ..Intervals::default()
        };
        let none = Row::default();
        for (number, step) in self.schedule.steps.iter().enumerate() {
            for interval in 0.. {
                let position = Position {
                    step: number,
                    interval,
                };
                let (start_ns, _) = self.schedule.bounds(position);
                if start_ns >= step.end_ns {
                    break;
                }
                // An interval in which nothing ended is a row too: it may be the stall looked for.
                for scenario in 0..self.scenarios.len() {
                    let row = self.rows.get(&(position, scenario)).unwrap_or(&none);
                    columns.start_ns.push(start_ns);
                    columns.step.push(number);
                    columns.measured.push(step.measured);
                    columns.scenario.push(scenario);
                    columns.transactions.push(row.transactions);
                    columns.failed.push(row.failed);
                    columns.latency_sum_ns.push(row.latency_sum_ns);
                    let (values, counts) = row.buckets.iter().copied().unzip();
                    columns.latency_ns.push(values);
                    columns.latency_count.push(counts);
                }
            }
        }
        columns
    }
}

/// Counts and latencies of some rows.
#[derive(Debug, Default)]
pub struct Sum {
    pub transactions: u64,
    pub failed: u64,
    latency_sum_ns: u128,
    latency_max_ns: u64,
    latencies: Option<Histogram<u64>>,
}

impl Sum {
    fn add(&mut self, row: &Row) {
        self.transactions += row.transactions;
        self.failed += row.failed;
        self.latency_sum_ns += u128::from(row.latency_sum_ns);
        self.latency_max_ns = self.latency_max_ns.max(row.latency_max_ns);
        if self.latencies.is_none() {
            self.latencies = histogram().ok();
        }
        if let Some(latencies) = &mut self.latencies {
            for (value, count) in &row.buckets {
                latencies.saturating_record_n(*value, *count);
            }
        }
    }

    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.transactions > 0).then(|| self.latency_sum_ns as f64 / self.transactions as f64)
    }

    #[must_use]
    pub fn max_ns(&self) -> Option<f64> {
        (self.transactions > 0).then_some(self.latency_max_ns as f64)
    }

    /// The latency that a share `quantile` of the successes did not exceed.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> Option<f64> {
        let latencies = self.latencies.as_ref().filter(|l| !l.is_empty())?;
        // A bucket's upper end may lie beyond the greatest value in it.
        let value = latencies
            .value_at_quantile(quantile)
            .min(self.latency_max_ns);
        Some(value as f64)
    }
}
