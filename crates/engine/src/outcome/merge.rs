//! One outcome of the reports of several engines.
//!
//! Enters: the configuration that all had, the time at which they began, their reports. Leaves:
//! an [`Outcome`], as one engine would have it, and what each of them contributed. Never: opens a
//! connection, or asks which transports work on this host.

use super::parallel::in_parallel;
use super::share_report::ShareReport;
use super::{Generator, Outcome};
use crate::config::Configuration;
use crate::error::EngineError;
use crate::program::Program;
use crate::schedule::Schedule;

/// Merges the reports of the shares of one load, which began at `started_ns`.
pub fn merge<B: AsRef<[u8]> + Sync>(
    json: &str,
    started_ns: i64,
    reports: &[B],
) -> Result<Outcome, EngineError> {
    if reports.is_empty() {
        return Err(EngineError::Misuse("merge() needs at least one report"));
    }
    let configuration = Configuration::parse(json)?;
    let program = Program::compile(&configuration)?;
    let schedule = Schedule::new(&configuration, started_ns);
    let numbered: Vec<_> = reports.iter().enumerate().collect();
    let read = in_parallel(&numbered, |(number, bytes)| {
        let name = format!("report {} of {}", number + 1, reports.len());
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
        .map(|report| Generator::of(report, &schedule))
        .collect();
    let report = ShareReport::merged(reports);
    let mut outcome = Outcome::new(&configuration, &program, &schedule, report);
    outcome.generators = generators;
    Ok(outcome)
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
