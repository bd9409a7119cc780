//! The result of a load as JSON: `pgassay.load/1`.
//!
//! Enters: an [`Outcome`]. Leaves: text. Never: counts a warm-up step, except in `steps`.

use crate::outcome::document::{
    Connections, Counts, Document, FirstError, Generator, Latency, MeanMax, Outage, Scenario,
    Slice, Statement, Step, Unfinished,
};
use crate::outcome::{Distribution, Outcome, Sum};
use crate::record::RowKey;
use crate::schedule::Span;

impl Outcome {
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let report = &self.report;
        let steps = self.schedule.steps.iter().zip(&report.steps);
        let measured = || steps.clone().filter(|(step, _)| step.measured);
        let duration_s = measured().map(|(step, _)| duration_s(step)).sum();
        let client_cpu_ns: i64 = measured().map(|(_, counts)| counts.cpu_ns).sum();
        let polled_ns: i64 = measured().map(|(_, counts)| counts.polled_ns).sum();
        let transactions = || report.connections.iter().map(|(_, count)| *count);
        let total = self.sum(|key| self.is_measured(key.position));
        // If steps have several rates: the mean, weighted by time.
        let asked: Option<f64> = measured()
            .map(|(step, _)| Some(step.rate? * self::duration_s(step)))
            .sum();
        let reached =
            asked.map(|_| self.rate_reached(duration_s, |key| self.is_measured(key.position)));
        serde_json::to_string(&Document {
            schema: "pgassay.load/1",
            duration_s,
            client_cpu_s: client_cpu_ns as f64 / 1e9,
            busy_poll_s: polled_ns as f64 / 1e9,
            client_limited: measured().any(|(_, counts)| counts.client_limited),
            rate_asked: asked.map(|asked| per_second(asked, duration_s)),
            rate_reached: reached,
            backlog: measured().map(|(_, counts)| counts.backlog).sum(),
            connections: Connections {
                count: report.connections.len(),
                min_tx: transactions().min().unwrap_or(0),
                max_tx: transactions().max().unwrap_or(0),
            },
            connect_ms: MeanMax::of(total.row.connect),
            initial_connect_ms: report.connect_ns as f64 / 1e6,
            lost_connections: report.lost_connections,
            unfinished: self.unfinished(),
            latency_with_unfinished_ms: self.latency_with_unfinished(&total),
            outages: self.outage_results(),
            scenarios: self.scenario_results(&total, duration_s),
            slices: self.slice_results(),
            started_ns: self.schedule.start_ns(),
            ended_ns: self.schedule.end_ns(),
            backend: &report.backend,
            generators: self.generator_results(),
            first_error: report.first_error.as_ref().map(|error| FirstError {
                sqlstate: error.failure.name(),
                message: &error.message,
                scenario: self.scenarios.get(error.scenario).map_or("", |s| &s.name),
            }),
            steps: self.step_results(),
            counts: self.counts(&total, duration_s),
        })
    }

    fn unfinished(&self) -> Unfinished {
        Unfinished {
            unfinished: self.report.unfinished_ns.len(),
            unfinished_max_ms: self
                .report
                .unfinished_ns
                .iter()
                .max()
                .map(|&ns| ns as f64 / 1e6),
        }
    }

    /// Latency for an objective: unfinished transactions count with the time they had taken.
    fn latency_with_unfinished(&self, total: &Sum) -> Latency {
        let is_open = self.schedule.steps.iter().any(|step| step.rate.is_some());
        let counted = if is_open {
            &total.response
        } else {
            &total.service
        };
        Latency::of(&counted.with(&self.report.unfinished_ns))
    }

    /// Transactions per second of the scenarios that share the rate, without constant connections.
    fn rate_reached(&self, duration_s: f64, wanted: impl Fn(&RowKey) -> bool) -> f64 {
        let is_constant =
            |number: usize| self.scenarios.get(number).is_some_and(|s| s.weight < 0.0);
        let rows = self.report.rows.iter();
        let rows = rows.filter(|(key, _)| !is_constant(key.scenario) && wanted(key));
        let ended: u64 = rows.map(|(_, row)| row.transactions + row.failed).sum();
        per_second(ended as f64, duration_s)
    }

    fn counts(&self, sum: &Sum, duration_s: f64) -> Counts {
        let is_open = self.schedule.steps.iter().any(|step| step.rate.is_some());
        Counts {
            tps: per_second(sum.row.transactions as f64, duration_s),
            transactions: sum.row.transactions,
            failed: sum.row.failed,
            skipped: sum.row.skipped,
            late: sum.row.late,
            retried: sum.row.retried,
            retries: sum.row.retries,
            latency_ms: Latency::of(&sum.service),
            response_ms: is_open.then(|| Latency::of(&sum.response)),
            schedule_lag_ms: MeanMax::of(sum.row.lag),
        }
    }

    fn scenario_results(&self, total: &Sum, duration_s: f64) -> Vec<Scenario<'_>> {
        let scenarios = self.scenarios.iter().enumerate();
        scenarios
            .map(|(number, scenario)| {
                let sum = self.sum(|key| key.scenario == number && self.is_measured(key.position));
                let errors = sum.row.errors.iter();
                let statements = self.commands.iter().zip(&self.report.commands);
                let statements = statements.filter(|(command, _)| command.scenario == number);
                Scenario {
                    name: &scenario.name,
                    weight: scenario.weight,
                    share: sum.row.transactions as f64 / total.row.transactions.max(1) as f64,
                    errors: errors.map(|(key, count)| (key.name(), *count)).collect(),
                    connect_ms: MeanMax::of(sum.row.connect),
                    statements: statements
                        .map(|(command, tally)| Statement {
                            command: &command.text,
                            line: command.line,
                            latency_ms: Latency::of(&Distribution::of(
                                tally.total,
                                tally.latencies.clone(),
                            )),
                            failures: tally.failures,
                            retries: tally.retries,
                        })
                        .collect(),
                    counts: self.counts(&sum, duration_s),
                }
            })
            .collect()
    }

    fn step_results(&self) -> Vec<Step> {
        let steps = self
            .schedule
            .steps
            .iter()
            .zip(&self.report.steps)
            .enumerate();
        steps
            .map(|(index, (step, counts))| {
                let sum = self.sum(|key| key.position.step == index);
                Step {
                    index,
                    clients: step.clients,
                    measured: step.measured,
                    start_ns: step.start_ns,
                    end_ns: step.end_ns,
                    counts: self.counts(&sum, duration_s(step)),
                    rate_asked: step.rate,
                    rate_reached: step.rate.map(|_| {
                        self.rate_reached(duration_s(step), |key| key.position.step == index)
                    }),
                    backlog: counts.backlog,
                    // Transactions running at the end belong to the last step.
                    unfinished: if index + 1 == self.schedule.steps.len() {
                        self.unfinished()
                    } else {
                        Unfinished::default()
                    },
                    client_cpu_s: counts.cpu_ns as f64 / 1e9,
                    busy_poll_s: counts.polled_ns as f64 / 1e9,
                    client_limited: counts.client_limited,
                }
            })
            .collect()
    }

    fn slice_results(&self) -> Vec<Slice<'_>> {
        let slices = self.schedule.slices.iter().zip(&self.report.edge_lag_ns);
        let results = slices.enumerate().map(|(index, (slice, edge_lag_ns))| {
            let own = self.sum_of_slice(index, false);
            let crossing = self.sum_of_slice(index, true).row;
            let duration_s = (slice.end_ns - slice.start_ns) as f64 / 1e9;
            Slice {
                index,
                variant: self.variants.get(slice.variant).map_or("", String::as_str),
                step: slice.step,
                start_ns: slice.start_ns,
                end_ns: slice.end_ns,
                transactions: own.row.transactions,
                failed: own.row.failed,
                crossing: crossing.transactions + crossing.failed,
                tps: per_second(own.row.transactions as f64, duration_s),
                latency_ms: Latency::of(&own.service),
                edge_lag_ms: *edge_lag_ns as f64 / 1e6,
            }
        });
        results.collect()
    }

    fn generator_results(&self) -> Vec<Generator<'_>> {
        let generators = self.generators.iter();
        generators
            .map(|generator| Generator {
                connections: generator.connections,
                transactions: generator.transactions,
                failed: generator.failed,
                client_cpu_s: generator.cpu_ns as f64 / 1e9,
                busy_poll_s: generator.polled_ns as f64 / 1e9,
                client_limited: generator.client_limited,
                backend: &generator.backend,
            })
            .collect()
    }

    fn outage_results(&self) -> Vec<Outage> {
        let outages = self.outages();
        outages
            .iter()
            .map(|outage| Outage {
                start_ns: outage.start_ns,
                end_ns: outage.end_ns,
                connections: outage.connections,
            })
            .collect()
    }
}

fn duration_s(step: &Span) -> f64 {
    (step.end_ns - step.start_ns) as f64 / 1e9
}

fn per_second(count: f64, duration_s: f64) -> f64 {
    if duration_s > 0.0 {
        count / duration_s
    } else {
        0.0
    }
}
