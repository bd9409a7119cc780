//! What is told of a failure at once, and whether it ends the load.
//!
//! Enters: a failure in words. Leaves: a line on standard error, the end of the whole load; each
//! only where it was asked for. Never: counts, which is the recorder's.

use std::io::{self, Write};

use pgassay_session::clock;

use super::{Bench, Client};
use crate::record::Failure;

impl Client {
    /// A problem with the file and line at which it arose.
    pub(super) fn placed(&self, problem: impl FnOnce() -> String, bench: &Bench<'_>) -> String {
        format!("{}: {}", self.interpreter.place(bench.program), problem())
    }

    /// pgbench's `--verbose-errors`: one line for each error, with what becomes of it.
    pub(super) fn complain(&self, problem: &str, is_retried: bool, bench: &Bench<'_>) {
        if !bench.pace.verbose_errors {
            return;
        }
        let fate = if is_retried {
            "repeats the transaction"
        } else {
            "ends the failed transaction"
        };
        let tries = match bench.pace.max_tries {
            0 => self.attempt.tries.to_string(),
            most => format!("{}/{most}", self.attempt.tries),
        };
        let share = bench.recorder.latency_limit_ns().map(|limit_ns| {
            let used_ns = clock::now_ns() - self.attempt.expected_ns();
            let percent = 100.0 * used_ns as f64 / limit_ns as f64;
            format!(", {percent:.3}% of the maximum time of tries was used")
        });
        let share = share.unwrap_or_default();
        let number = self.number;
        let line = format!("client {number}: {problem}; {fate} (try {tries}{share})\n");
        // Where nobody reads it nothing is to be told.
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }

    /// pgbench's `--exit-on-abort`: what would abort its client, which is all but failures to
    /// serialize and deadlocks, ends the load.
    pub(super) fn abort(&self, failure: &Failure, problem: &str, bench: &mut Bench<'_>) {
        if bench.pace.exit_on_abort && !failure.is_retryable() {
            let problem = format!("client {} was aborted: {problem}", self.number);
            bench.pace.fatal.get_or_insert(problem);
        }
    }
}
