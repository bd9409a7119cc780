//! The result of a load as JSON: `pgassay.load/1`.
//!
//! Enters: an [`Outcome`]. Leaves: text. Never: counts a warm-up step, but in `steps`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::outcome::{Outcome, Sum};
use crate::schedule::Span;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tps: f64,
    transactions: u64,
    failed: u64,
    skipped: u64,
    duration_s: f64,
    client_cpu_s: f64,
    latency_ms: Latency,
    connections: Connections,
    scenarios: Vec<Scenario<'a>>,
    started_ns: i64,
    ended_ns: i64,
    backend: &'static str,
    lost_connections: u64,
    first_error: Option<FirstError<'a>>,
    steps: Vec<Step>,
}

/// Milliseconds; all null where nothing succeeded.
#[derive(Serialize)]
struct Latency {
    mean: Option<f64>,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    p999: Option<f64>,
    max: Option<f64>,
}

#[derive(Serialize)]
struct Connections {
    count: usize,
    min_tx: u64,
    max_tx: u64,
}

#[derive(Serialize)]
struct Scenario<'a> {
    name: &'a str,
    weight: f64,
    share: f64,
    transactions: u64,
    tps: f64,
    latency_ms: Latency,
    errors: BTreeMap<String, u64>,
}

#[derive(Serialize)]
struct FirstError<'a> {
    sqlstate: String,
    message: &'a str,
    scenario: &'a str,
}

#[derive(Serialize)]
struct Step {
    index: usize,
    clients: usize,
    measured: bool,
    start_ns: i64,
    end_ns: i64,
    transactions: u64,
    failed: u64,
    tps: f64,
    latency_ms: Latency,
    client_cpu_s: f64,
}

impl Outcome {
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let measured = || self.schedule.steps.iter().filter(|step| step.measured);
        let duration_s = measured().map(duration_s).sum();
        let cpu = self.step_cpu_ns.iter().zip(&self.schedule.steps);
        let client_cpu_ns: i64 = cpu
            .filter_map(|(cpu_ns, step)| step.measured.then_some(cpu_ns))
            .sum();
        let total = self.sum(|position, _| self.is_measured(position));
        serde_json::to_string(&Document {
            schema: "pgassay.load/1",
            tps: rate(total.transactions, duration_s),
            transactions: total.transactions,
            failed: total.failed,
            skipped: 0,
            duration_s,
            client_cpu_s: client_cpu_ns as f64 / 1e9,
            latency_ms: Latency::of(&total),
            connections: Connections {
                count: self.connections.len(),
                min_tx: self.connections.iter().copied().min().unwrap_or(0),
                max_tx: self.connections.iter().copied().max().unwrap_or(0),
            },
            scenarios: self.scenario_results(&total, duration_s),
            started_ns: self.schedule.start_ns(),
            ended_ns: self.schedule.end_ns(),
            backend: self.backend,
            lost_connections: self.lost_connections,
            first_error: self.first_error.as_ref().map(|error| FirstError {
                sqlstate: error.failure.name(),
                message: &error.message,
                scenario: self.scenarios.get(error.scenario).map_or("", |s| &s.name),
            }),
            steps: self.step_results(),
        })
    }

    fn scenario_results(&self, total: &Sum, duration_s: f64) -> Vec<Scenario<'_>> {
        let scenarios = self.scenarios.iter().enumerate();
        scenarios
            .map(|(number, scenario)| {
                let sum = self.sum(|position, other| other == number && self.is_measured(position));
                let errors = scenario.errors.iter();
                Scenario {
                    name: &scenario.name,
                    weight: scenario.weight,
                    share: sum.transactions as f64 / total.transactions.max(1) as f64,
                    transactions: sum.transactions,
                    tps: rate(sum.transactions, duration_s),
                    latency_ms: Latency::of(&sum),
                    errors: errors.map(|(key, count)| (key.name(), *count)).collect(),
                }
            })
            .collect()
    }

    fn step_results(&self) -> Vec<Step> {
        let steps = self.schedule.steps.iter().enumerate();
        steps
            .map(|(index, step)| {
                let sum = self.sum(|position, _| position.step == index);
                let cpu_ns = self.step_cpu_ns.get(index).copied().unwrap_or(0);
                Step {
                    index,
                    clients: step.clients,
                    measured: step.measured,
                    start_ns: step.start_ns,
                    end_ns: step.end_ns,
                    transactions: sum.transactions,
                    failed: sum.failed,
                    tps: rate(sum.transactions, duration_s(step)),
                    latency_ms: Latency::of(&sum),
                    client_cpu_s: cpu_ns as f64 / 1e9,
                }
            })
            .collect()
    }
}

impl Latency {
    fn of(sum: &Sum) -> Latency {
        let ms = |ns: Option<f64>| ns.map(|ns| ns / 1e6);
        Latency {
            mean: ms(sum.mean_ns()),
            p50: ms(sum.quantile_ns(0.5)),
            p95: ms(sum.quantile_ns(0.95)),
            p99: ms(sum.quantile_ns(0.99)),
            p999: ms(sum.quantile_ns(0.999)),
            max: ms(sum.max_ns()),
        }
    }
}

fn duration_s(step: &Span) -> f64 {
    (step.end_ns - step.start_ns) as f64 / 1e9
}

fn rate(transactions: u64, duration_s: f64) -> f64 {
    if duration_s > 0.0 {
        transactions as f64 / duration_s
    } else {
        0.0
    }
}
