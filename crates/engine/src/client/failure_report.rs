//! Reports failures at once, and ends the load at a failure, where that was requested.
//!
//! Enters: a failure and its message. Leaves: a line on standard error, or the end of the load.
//! Never: counts failures; the recorder does.

use std::io::{self, Write};

use pgassay_session::{ServerError, clock};

use super::{Client, State, WorkerContext};
use crate::record::Failure;

/// Stands for the text of an error in a transaction with parameters.
pub(super) const NOT_SHOWN: &str = "its text may hold a parameter and is not shown";

/// Leaves of a server's error what holds no value; what ends a session is not about values.
pub(super) fn without_text(error: &mut ServerError) {
    if !error.is_fatal() {
        NOT_SHOWN.clone_into(&mut error.message);
        error.detail = None;
        error.hint = None;
    }
}

impl Client {
    /// Whether what fails now may show a value of a file of parameters.
    pub(super) fn is_private(&self, context: &WorkerContext<'_>) -> bool {
        let is_of_transaction = matches!(
            self.state,
            State::Waiting | State::Sleeping | State::RollingBack { .. }
        );
        is_of_transaction && self.interpreter.is_private(context.program)
    }

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
