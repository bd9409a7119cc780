//! Ends a transaction, or tries it again.
//!
//! Enters: how a transaction ended. Leaves: its count and line of the log, its rollback, and a
//! client ready for the next one. Never: decides when the next one begins.

use pgassay_session::clock;

use super::failure_report::NOT_SHOWN;
use super::{Client, State, WorkerContext};
use crate::config::Reconnect;
use crate::log::TransactionEnd;
use crate::record::Failure;
use crate::script::Fault;

/// The pause of a client whose script failed before it sent anything to the server.
const FAULT_PAUSE_NS: i64 = 1_000_000;
/// How many transactions may end without a wait before other clients run.
const MOST_AT_ONCE: u32 = 64;

impl Client {
    /// Whether the transaction is tried again: not beyond max_tries, latency limit or schedule.
    pub(super) fn may_retry(&self, failure: &Failure, context: &mut WorkerContext<'_>) -> bool {
        let max_tries = context.pace.max_tries;
        if !failure.is_retryable() || (max_tries > 0 && self.attempt.tries >= max_tries) {
            return false;
        }
        let now_ns = clock::now_ns();
        context.recorder.advance(now_ns);
        let limit_ns = context.recorder.latency_limit_ns().unwrap_or(i64::MAX);
        context.recorder.step().is_some() && now_ns - self.attempt.expected_ns() <= limit_ns
    }

    pub(super) fn retry(&mut self, context: &mut WorkerContext<'_>, output: &mut Vec<u8>) {
        self.attempt.tries += 1;
        self.interpreter.restart();
        if self.block == b'I' {
            self.proceed(context, output);
        } else {
            self.interpreter.roll_back(output);
            self.state = State::RollingBack { retries: true };
        }
    }

    pub(super) fn end_succeeded(&mut self, context: &mut WorkerContext<'_>, output: &mut Vec<u8>) {
        let now_ns = clock::now_ns();
        let counts = context.recorder.success(now_ns, &self.attempt);
        if counts && context.recorder.is_measured() {
            *self.measured.get_or_insert(0) += 1;
        }
        self.done += 1;
        self.write_log(now_ns, &self.attempt, TransactionEnd::Succeeded, context);
        self.at_once += 1;
        let pause_ns = if self.at_once < MOST_AT_ONCE {
            0
        } else {
            // A script that never waits would keep the other clients waiting.
            self.at_once = 0;
            1
        };
        self.idle.begin(now_ns, pause_ns, &context.pace);
        self.finish(now_ns, context, output);
    }

    /// Goes on to the next transaction.
    pub(super) fn finish(
        &mut self,
        now_ns: i64,
        context: &mut WorkerContext<'_>,
        output: &mut Vec<u8>,
    ) {
        self.state = State::Idle;
        if context.pace.reconnect == Reconnect::EachTransaction {
            self.is_open = false;
            context.pace.closing.push(self.place);
        }
        self.run_idle(now_ns, context, output);
    }

    /// Ends the transaction after an error of the script itself. If that happens before anything
    /// is sent, the next transaction begins after a pause, so that this does not loop.
    pub(super) fn end_by_fault(
        &mut self,
        fault: &Fault,
        context: &mut WorkerContext<'_>,
        output: &mut Vec<u8>,
    ) {
        let is_private = fault.shows_value && self.interpreter.is_private(context.program);
        let problem = || match is_private {
            true => NOT_SHOWN.to_owned(),
            false => fault.to_string(),
        };
        self.end_failed(Failure::Client, problem, context);
        if let Some(number) = self.interpreter.command(context.program) {
            context.recorder.command_failed(number, false);
        }
        self.idle
            .begin(clock::now_ns(), FAULT_PAUSE_NS, &context.pace);
        self.roll_back_or_finish(context, output);
    }

    /// `problem` is called only if the message is reported.
    pub(super) fn end_failed(
        &mut self,
        failure: Failure,
        problem: impl FnOnce() -> String,
        context: &mut WorkerContext<'_>,
    ) {
        let now_ns = clock::now_ns();
        if context.pace.reports_failures() {
            let message = self.placed(problem, context);
            self.report_failure(&message, false, context);
            self.abort(&failure, &message, context);
            context
                .recorder
                .failure(now_ns, &self.attempt, failure, || message);
        } else {
            let (interpreter, program) = (&self.interpreter, context.program);
            let message = || format!("{}: {}", interpreter.place(program), problem());
            context
                .recorder
                .failure(now_ns, &self.attempt, failure, message);
        }
        self.done += 1;
        let end = match failure {
            Failure::Sqlstate(code) if code == *b"40001" => TransactionEnd::Serialization,
            Failure::Sqlstate(code) if code == *b"40P01" => TransactionEnd::Deadlock,
            _ => TransactionEnd::Failed,
        };
        self.write_log(now_ns, &self.attempt, end, context);
        self.idle.begin(now_ns, 0, &context.pace);
    }

    /// After a failure: rolls back an open transaction block, else ends the transaction.
    pub(super) fn roll_back_or_finish(
        &mut self,
        context: &mut WorkerContext<'_>,
        output: &mut Vec<u8>,
    ) {
        if self.block == b'I' && !self.interpreter.in_pipeline() {
            self.finish(clock::now_ns(), context, output);
        } else {
            self.interpreter.roll_back(output);
            self.state = State::RollingBack { retries: false };
        }
    }
}
