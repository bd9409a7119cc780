//! Counts the transactions of one worker.
//!
//! Enters: ends of transactions with their time. Leaves: a row per interval and scenario, figures
//! per step, slice and command, and the first error. Never: allocates per
//! transaction that succeeds, or counts one that ends outside the schedule.

mod attempt;
mod buckets;
pub mod progress;
mod report;
mod row;
mod thread_time;

use std::sync::Arc;

use hdrhistogram::errors::CreationError;

use crate::record::progress::Shared;
use crate::schedule::{Position, Schedule, Slice, Span};
pub use attempt::{Attempt, Scope};
pub use buckets::Buckets;
pub use report::{CommandTally, Failure, FirstError, Report, StepReport};
use row::Tally;
pub use row::{Row, RowKey, RowSums, Total, histogram};
use thread_time::ThreadTime;
pub use thread_time::thread_cpu_ns;

pub struct Recorder {
    schedule: Schedule,
    scope: Scope,
    shared: Arc<Shared>,
    worker: usize,
    position: Option<Position>,
    /// The end of the current position.
    until_ns: i64,
    /// One per scenario, then one per scenario for transactions that cross an edge.
    tallies: Vec<Tally>,
    report: Report,
    accounted: ThreadTime,
}

impl Recorder {
    pub fn new(
        schedule: Schedule,
        scope: Scope,
        shared: Arc<Shared>,
        worker: usize,
    ) -> Result<Recorder, CreationError> {
        let is_open = schedule.steps.iter().any(|step| step.rate.is_some());
        let kinds = if schedule.slices.is_empty() { 1 } else { 2 };
        let tallies = (0..kinds * scope.scenarios).map(|_| Tally::new(is_open));
        let commands = (0..scope.commands).map(|_| CommandTally::new());
        Ok(Recorder {
            report: Report {
                steps: vec![StepReport::default(); schedule.steps.len()],
                commands: commands.collect::<Result<_, _>>()?,
                edge_lag_ns: vec![0; schedule.slices.len()],
                ..Report::default()
            },
            tallies: tallies.collect::<Result<_, _>>()?,
            until_ns: schedule.start_ns(),
            schedule,
            scope,
            shared,
            worker,
            position: None,
            accounted: ThreadTime::default(),
        })
    }

    /// The current step; none before the start and after the end.
    #[must_use]
    pub fn step(&self) -> Option<&Span> {
        self.position
            .and_then(|position| self.schedule.step(position))
    }

    /// The current slice.
    #[must_use]
    pub fn slice(&self) -> Option<&Slice> {
        self.position
            .and_then(|position| self.schedule.slice(position))
    }

    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.step().is_some_and(|step| step.measured)
    }

    /// The current end of the schedule; `stop` may have moved it forward.
    #[must_use]
    pub fn end_ns(&self) -> i64 {
        self.schedule.end_ns().min(self.shared.limit_ns())
    }

    /// Whether the load was stopped before the end of its schedule.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.shared.limit_ns() < self.schedule.end_ns()
    }

    /// The next time at which the worker must act.
    #[must_use]
    pub fn until_ns(&self) -> i64 {
        self.until_ns
    }

    #[must_use]
    pub fn latency_limit_ns(&self) -> Option<i64> {
        self.scope.latency_limit_ns
    }

    #[must_use]
    pub fn measures_commands(&self) -> bool {
        self.scope.commands > 0
    }

    /// Moves on to the position of `now_ns`. Cheap if that is the current one.
    pub fn advance(&mut self, now_ns: i64) {
        if now_ns >= self.until_ns || now_ns >= self.shared.limit_ns() {
            self.change_position(now_ns);
        }
    }

    fn change_position(&mut self, now_ns: i64) {
        let next = if now_ns >= self.shared.limit_ns() {
            None
        } else {
            self.schedule.position(now_ns)
        };
        if next == self.position {
            return;
        }
        self.close_rows();
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

    fn step_report(&mut self) -> Option<&mut StepReport> {
        self.report.steps.get_mut(self.position?.step)
    }

    /// Adds the CPU time since the last step began.
    fn account_cpu(&mut self) {
        let now = ThreadTime::now();
        let spent = now.since(&self.accounted);
        if let Some(step) = self.step_report() {
            step.cpu_ns += (spent.cpu_ns - spent.polled_ns).max(0);
            step.polled_ns += spent.polled_ns;
        }
        self.accounted = now;
    }

    /// Closes the rows of the current position.
    fn close_rows(&mut self) {
        let Some(position) = self.position else {
            return;
        };
        let mut transactions = 0;
        for (number, tally) in self.tallies.iter_mut().enumerate() {
            if let Some(row) = tally.take() {
                transactions += row.transactions;
                let key = RowKey {
                    position,
                    scenario: number % self.scope.scenarios,
                    crosses: number >= self.scope.scenarios,
                };
                self.report.rows.insert(key, row);
            }
        }
        let (start_ns, _) = self.schedule.bounds(position);
        self.shared
            .close_interval(self.worker, start_ns, transactions);
    }

    /// The row that counts an attempt that ends now.
    fn tally(&mut self, attempt: &Attempt) -> Option<&mut Tally> {
        let slice = self.position?.slice;
        // A slice counts only transactions that began in it.
        let crosses = slice.is_some() && slice != attempt.slice;
        let kind = if crosses { self.scope.scenarios } else { 0 };
        self.tallies.get_mut(kind + attempt.scenario)
    }

    /// Counts a success at `now_ns`; false if the schedule has ended.
    pub fn success(&mut self, now_ns: i64, attempt: &Attempt) -> bool {
        self.advance(now_ns);
        let limit_ns = self.scope.latency_limit_ns;
        let Some(tally) = self.tally(attempt) else {
            self.leave_unfinished(now_ns, attempt);
            return false;
        };
        tally.end(attempt);
        tally.row.transactions += 1;
        tally.serve(duration_ns(attempt.began_ns, now_ns));
        let latency_ns = duration_ns(attempt.expected_ns(), now_ns);
        let lag_ns = duration_ns(attempt.expected_ns(), attempt.began_ns);
        if let Some(due_ns) = attempt.due_ns {
            tally.respond(duration_ns(due_ns, now_ns));
        }
        if limit_ns.is_some_and(|limit_ns| now_ns - attempt.expected_ns() > limit_ns) {
            tally.row.late += 1;
        }
        self.shared.count_success(self.worker, latency_ns, lag_ns);
        self.count_retries(attempt);
        true
    }

    /// Counts a failure at `now_ns`; `message` is called only for the first one.
    pub fn failure(
        &mut self,
        now_ns: i64,
        attempt: &Attempt,
        failure: Failure,
        message: impl FnOnce() -> String,
    ) {
        self.advance(now_ns);
        let Some(tally) = self.tally(attempt) else {
            self.leave_unfinished(now_ns, attempt);
            return;
        };
        tally.end(attempt);
        tally.row.failed += 1;
        tally.row.count_error(failure, 1);
        self.shared.count_failure(self.worker);
        self.count_retries(attempt);
        self.note_error(now_ns, attempt.scenario, failure, message);
    }

    /// Notes a transaction that was running when the schedule ended. It is not counted, because
    /// it ended outside the measured time, but the result reports that it was left out.
    pub fn leave_unfinished(&mut self, now_ns: i64, attempt: &Attempt) {
        if self.position.is_none() {
            let took_ns = duration_ns(attempt.expected_ns(), now_ns);
            self.report.unfinished_ns.push(took_ns);
        }
    }

    fn count_retries(&self, attempt: &Attempt) {
        if attempt.tries > 1 {
            let retries = u64::from(attempt.tries) - 1;
            self.shared.count_retries(self.worker, retries);
        }
    }

    /// Keeps the first error of the warm-up and the first of measured steps.
    pub fn note_error(
        &mut self,
        now_ns: i64,
        scenario: usize,
        failure: Failure,
        message: impl FnOnce() -> String,
    ) {
        let measured = self.is_measured();
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

    /// Whether a failure now would be the first in warm-up or measured steps.
    #[must_use]
    pub fn wants_message(&self) -> bool {
        self.report.first_errors.len() < 2
    }

    /// Counts a transaction that is skipped because it is too late.
    pub fn skip(&mut self, scenario: usize) {
        if self.position.is_some()
            && let Some(tally) = self.tallies.get_mut(scenario)
        {
            tally.row.skipped += 1;
            self.shared.count_skipped(self.worker);
        }
    }

    /// Notes the delay of an arrival that had an idle connection.
    pub fn began_on_time(&mut self, due_ns: i64, now_ns: i64) {
        if let Some(step) = self.step_report() {
            step.own_lag.add(duration_ns(due_ns, now_ns));
        }
    }

    /// Counts an arrival of `step` that was claimed but will not begin.
    pub fn drop_arrival(&mut self, step: usize) {
        if let Some(step) = self.report.steps.get_mut(step) {
            step.dropped += 1;
        }
    }

    pub fn command(&mut self, number: usize, began_ns: i64, now_ns: i64) {
        if self.is_measured()
            && let Some(command) = self.report.commands.get_mut(number)
        {
            command.add(duration_ns(began_ns, now_ns));
        }
    }

    pub fn command_failed(&mut self, number: usize, is_retried: bool) {
        if self.is_measured()
            && let Some(command) = self.report.commands.get_mut(number)
        {
            if is_retried {
                command.retries += 1;
            } else {
                command.failures += 1;
            }
        }
    }

    /// Notes when a connection switches to the variant of the current slice; it could have done
    /// so at `idle_since_ns`.
    pub fn switch(&mut self, idle_since_ns: i64, now_ns: i64) {
        let Some(slice) = self.position.and_then(|position| position.slice) else {
            return;
        };
        let Some(start_ns) = self.schedule.slices.get(slice).map(|slice| slice.start_ns) else {
            return;
        };
        if let Some(lag_ns) = self.report.edge_lag_ns.get_mut(slice) {
            *lag_ns = (now_ns - start_ns.max(idle_since_ns)).max(*lag_ns);
        }
    }

    pub fn count_lost_connection(&mut self) {
        self.report.lost_connections += 1;
    }

    /// Counts a session opened while the load runs.
    pub fn connected(&mut self, scenario: usize, took_ns: i64, cpu_ns: i64) {
        if let Some(step) = self.step_report() {
            step.helper_cpu_ns += cpu_ns;
            if let Some(tally) = self.tallies.get_mut(scenario) {
                tally.row.connect.add(duration_ns(0, took_ns));
            }
        }
    }

    pub fn outage(&mut self, start_ns: i64, end_ns: i64) {
        self.report.outages.push((start_ns, end_ns));
    }

    /// Notes that the worker has no more work before the schedule's end.
    pub fn end_early(&mut self, now_ns: i64) {
        self.close_rows();
        self.account_cpu();
        self.position = None;
        self.until_ns = i64::MAX;
        self.report.ended_early_ns = Some(now_ns);
    }

    #[must_use]
    pub fn into_report(mut self) -> Report {
        self.close_rows();
        self.account_cpu();
        self.report
    }
}

fn duration_ns(from_ns: i64, to_ns: i64) -> u64 {
    u64::try_from(to_ns - from_ns).unwrap_or(0)
}

#[cfg(test)]
mod tests;
