//! One outcome of the reports of several engines.
//!
//! Enters: the configuration that all had, their reports as they come, the time at which they
//! began. Leaves: an [`Outcome`], as one engine would have it, and what each of them contributed.
//! Never: keeps a report, opens a connection, or asks which transports work on this host.

use super::parallel::in_parallel;
use super::share_report::ShareReport;
use super::{Generator, Outcome};
use crate::config::Configuration;
use crate::error::EngineError;
use crate::program::Program;
use crate::schedule::Schedule;

/// The sum of the reports of shares of one load so far.
#[derive(Debug)]
pub struct Merging {
    configuration: Configuration,
    program: Program,
    sum: Option<ShareReport>,
    generators: Vec<Generator>,
}

impl Merging {
    /// Of the load of this configuration, whichever its share.
    pub fn new(json: &str) -> Result<Merging, EngineError> {
        let configuration = Configuration::parse(json)?;
        let program = Program::compile(&configuration, &[])?;
        Ok(Merging {
            configuration,
            program,
            sum: None,
            generators: Vec::new(),
        })
    }

    /// Adds some reports, on all processors; after an error none of them is added.
    pub fn add<B: AsRef<[u8]> + Sync>(&mut self, reports: &[B]) -> Result<(), EngineError> {
        let schedule = Schedule::new(&self.configuration, 0);
        let numbered: Vec<_> = (self.generators.len() + 1..).zip(reports).collect();
        let read = in_parallel(&numbered, |(number, bytes)| {
            let name = format!("report {number}");
            let report = ShareReport::from_bytes(bytes.as_ref(), &name)?;
            if report.steps.len() == schedule.steps.len()
                && report.edge_lag_ns.len() == schedule.slices.len()
            {
                return Ok(report);
            }
            let problem = "is of another load; give all engines the same configuration";
            Err(EngineError::Report(format!("{name} {problem}")))
        });
        let reports = read.into_iter().collect::<Result<Vec<_>, _>>()?;
        let generators = reports
            .iter()
            .map(|report| Generator::of(report, &schedule));
        self.generators.extend(generators);
        let parts = self.sum.take().into_iter().chain(reports);
        self.sum = Some(ShareReport::merged(parts.collect()));
        Ok(())
    }

    /// The outcome of the whole load, which began at `started_ns`.
    pub fn finish(self, started_ns: i64) -> Result<Outcome, EngineError> {
        let problem = EngineError::Misuse("add a report before the outcome is asked for");
        let mut report = self.sum.ok_or(problem)?;
        report.backend = backends(&self.generators);
        let schedule = Schedule::new(&self.configuration, started_ns);
        let mut outcome = Outcome::new(&self.configuration, &self.program, &schedule, report);
        outcome.generators = self.generators;
        Ok(outcome)
    }
}

/// Each that was used, once.
fn backends(generators: &[Generator]) -> String {
    let mut found: Vec<&str> = Vec::new();
    for generator in generators {
        if !generator.backend.is_empty() && !found.contains(&generator.backend.as_str()) {
            found.push(&generator.backend);
        }
    }
    found.join(", ")
}

impl Generator {
    /// What an engine contributed to measured steps.
    fn of(report: &ShareReport, schedule: &Schedule) -> Generator {
        let mut generator = Generator {
            connections: report.connections.len(),
            backend: report.backend.clone(),
            ..Generator::default()
        };
        let steps = report.steps.iter().zip(&schedule.steps);
        for (step, _) in steps.filter(|(_, span)| span.measured) {
            generator.cpu_ns += step.cpu_ns;
            generator.polled_ns += step.polled_ns;
            generator.client_limited |= step.client_limited;
        }
        let is_measured = |step: usize| schedule.steps.get(step).is_some_and(|span| span.measured);
        for (_, row) in report
            .rows
            .iter()
            .filter(|(key, _)| is_measured(key.position.step))
        {
            generator.transactions += row.transactions;
            generator.failed += row.failed;
        }
        generator
    }
}
