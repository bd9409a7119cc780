//! Reports failures at once, and ends the load at a failure, where that was requested.
//!
//! Enters: a failure and its message. Leaves: a line on standard error, or the end of the load.
//! Never: counts failures; the recorder does.

use std::io::{self, Write};

use pgassay_session::clock;

use super::{Client, WorkerContext};
use crate::record::Failure;

impl Client {
    /// A problem preceded by its file and line.
    pub(super) fn placed(
        &self,
        problem: impl FnOnce() -> String,
        context: &WorkerContext<'_>,
    ) -> String {
        format!("{}: {}", self.interpreter.place(context.program), problem())
    }

    /// pgbench's `--verbose-errors`: one line for each error and what the client does next.
    pub(super) fn report_failure(
        &self,
        problem: &str,
        is_retried: bool,
        context: &WorkerContext<'_>,
    ) {
        if !context.pace.verbose_errors {
            return;
        }
        let end = if is_retried {
            "repeats the transaction"
        } else {
            "ends the failed transaction"
        };
        let tries = match context.pace.max_tries {
            0 => self.attempt.tries.to_string(),
            most => format!("{}/{most}", self.attempt.tries),
        };
        let share = context.recorder.latency_limit_ns().map(|limit_ns| {
            let used_ns = clock::now_ns() - self.attempt.expected_ns();
            let percent = 100.0 * used_ns as f64 / limit_ns as f64;
            format!(", {percent:.3}% of the maximum time of tries was used")
        });
        let share = share.unwrap_or_default();
        let number = self.assignment.number;
        let line = format!("client {number}: {problem}; {end} (try {tries}{share})\n");
        // Standard error may be closed; the load goes on.
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }

    /// pgbench's `--exit-on-abort`: a failure for which pgbench would abort its client ends the
    /// load. These are all but serialization failures and deadlocks.
    pub(super) fn abort(&self, failure: &Failure, problem: &str, context: &mut WorkerContext<'_>) {
        if context.pace.exit_on_abort && !failure.is_retryable() {
            let number = self.assignment.number;
            let problem = format!("client {number} was aborted: {problem}");
            context.pace.fatal.get_or_insert(problem);
        }
    }
}
