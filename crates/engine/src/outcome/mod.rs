//! The outcome of a load: what its engines counted.
//!
//! Enters: the report of one engine, or of several. Leaves: rows per interval and scenario, and
//! the sums that `result` shows. Never: knows Python.

mod document;
mod intervals;
mod json;
mod merge;
mod parallel;
mod share_report;
mod sum;

use crate::config::Configuration;
use crate::error::EngineError;
use crate::program::Program;
use crate::record::RowKey;
use crate::schedule::{Position, Schedule};
pub use intervals::{Intervals, LEADING_BITS};
pub use merge::Merging;
pub use share_report::ShareReport;
pub use sum::{Distribution, Sum};

#[derive(Debug)]
pub struct Outcome {
    /// The schedule as it was carried out.
    pub schedule: Schedule,
    /// What was counted; of all engines, if there were several.
    pub report: ShareReport,
    /// What each engine contributed; empty for a load that was not merged.
    pub generators: Vec<Generator>,
    pub scenarios: Vec<ScenarioOutcome>,
    /// The commands of all scripts, by number.
    pub commands: Vec<Command>,
    /// By index of the variant in the configuration.
    pub variants: Vec<String>,
}

#[derive(Debug)]
pub struct ScenarioOutcome {
    pub name: String,
    pub weight: f64,
}

#[derive(Debug)]
pub struct Command {
    pub scenario: usize,
    pub line: usize,
    pub text: String,
}

/// What one of several engines contributed to measured steps.
#[derive(Debug, Default)]
pub struct Generator {
    /// Connections that took part.
    pub connections: usize,
    pub transactions: u64,
    pub failed: u64,
    pub cpu_ns: i64,
    pub polled_ns: i64,
    pub client_limited: bool,
    pub backend: String,
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
        configuration: &Configuration,
        program: &Program,
        schedule: &Schedule,
        report: ShareReport,
    ) -> Outcome {
        let end_ns = report.end_ns.map_or(i64::MAX, |end_ns| {
            schedule.start_ns().saturating_add(end_ns)
        });
        let scenarios = configuration.scenarios.iter();
        let commands = program.commands.iter();
        let variants = configuration.slices.iter().flat_map(|s| &s.variants);
        Outcome {
            schedule: schedule.ended_at(end_ns),
            report,
            generators: Vec::new(),
            scenarios: scenarios
                .map(|scenario| ScenarioOutcome {
                    name: scenario.name.clone(),
                    weight: scenario.weight,
                })
                .collect(),
            commands: commands
                .map(|command| Command {
                    scenario: command.scenario,
                    line: command.line,
                    text: command.text.clone(),
                })
                .collect(),
            variants: variants.map(|variant| variant.name.clone()).collect(),
        }
    }

    /// The report of this engine, to be merged with those of others.
    pub fn report_bytes(&self) -> Result<Vec<u8>, EngineError> {
        self.report.to_bytes()
    }

    /// In order of time, none overlapping another.
    #[must_use]
    pub fn outages(&self) -> Vec<Outage> {
        let start_ns = self.schedule.start_ns();
        let outages = self.report.outages.iter();
        merged_outages(
            outages
                .map(|(from_ns, to_ns)| (start_ns + from_ns, start_ns + to_ns))
                .collect(),
        )
    }

    /// Sums of the rows for which `select` is true.
    #[must_use]
    pub fn sum(&self, select: impl Fn(&RowKey) -> bool) -> Sum {
        let mut sum = Sum::default();
        for (_, row) in self.report.rows.iter().filter(|(key, _)| select(key)) {
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
            let rows = self.report.rows.range(first..=last);
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
