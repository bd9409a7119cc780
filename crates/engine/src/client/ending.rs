//! The end of a transaction, or another try of it.
//!
//! Enters: how a transaction came to its end. Leaves: its place in the counts and the log, what
//! rolls it back, and the client on its way to the next. Never: decides when that begins.

use pgassay_session::clock;

use super::{Bench, Client, State};
use crate::config::Reconnect;
use crate::log::Fate;
use crate::record::Failure;
use crate::script::Fault;

/// The pause of a client whose script failed by itself, without a word to the server.
const FAULT_PAUSE_NS: i64 = 1_000_000;
/// Transactions that end without a wait before others have their turn.
const MOST_AT_ONCE: u32 = 64;

impl Client {
    /// As pgbench does: not beyond the tries, the latency limit or the schedule.
    pub(super) fn may_retry(&self, failure: &Failure, bench: &mut Bench<'_>) -> bool {
        let max_tries = bench.pace.max_tries;
        if !failure.is_retryable() || (max_tries > 0 && self.attempt.tries >= max_tries) {
            return false;
        }
        let now_ns = clock::now_ns();
        bench.recorder.advance(now_ns);
        let limit_ns = bench.recorder.latency_limit_ns().unwrap_or(i64::MAX);
        bench.recorder.step().is_some() && now_ns - self.attempt.expected_ns() <= limit_ns
    }

    pub(super) fn retry(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        self.attempt.tries += 1;
        self.interpreter.restart();
        if self.block == b'I' {
            self.proceed(bench, output);
        } else {
            self.interpreter.roll_back(output);
            self.state = State::RollingBack { retries: true };
        }
    }

    pub(super) fn end_succeeded(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        let now_ns = clock::now_ns();
        let counts = bench.recorder.success(now_ns, &self.attempt);
        if counts && bench.recorder.is_measured() {
            *self.measured.get_or_insert(0) += 1;
        }
        self.done += 1;
        self.write_log(now_ns, &self.attempt, Fate::Succeeded, bench);
        self.at_once += 1;
        let pause_ns = if self.at_once < MOST_AT_ONCE {
            0
        } else {
            // A script that never waits would keep the other clients waiting.
            self.at_once = 0;
            1
        };
        self.rest.begin(now_ns, pause_ns, &bench.pace);
        self.finish(now_ns, bench, output);
    }

    /// Nothing of the transaction is left: on to the next.
    pub(super) fn finish(&mut self, now_ns: i64, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        self.state = State::Idle;
        if bench.pace.reconnect == Reconnect::EachTransaction {
            self.is_open = false;
            bench.pace.closing.push(self.place);
        }
        self.go_on(now_ns, bench, output);
    }

    /// The script's own mistake ends the transaction. One that fails before it sends anything
    /// must not go round and round in here: the next transaction begins after a pause.
    pub(super) fn end_by_fault(
        &mut self,
        fault: &Fault,
        bench: &mut Bench<'_>,
        output: &mut Vec<u8>,
    ) {
        self.end_failed(Failure::Client, || fault.to_string(), bench);
        if let Some(number) = self.interpreter.command(bench.program) {
            bench.recorder.command_failed(number, false);
        }
        self.rest
            .begin(clock::now_ns(), FAULT_PAUSE_NS, &bench.pace);
        self.settle(bench, output);
    }

    /// `problem` is asked for only if it is to be reported.
    pub(super) fn end_failed(
        &mut self,
        failure: Failure,
        problem: impl FnOnce() -> String,
        bench: &mut Bench<'_>,
    ) {
        let now_ns = clock::now_ns();
        if bench.pace.tells_failures() {
            let message = self.placed(problem, bench);
            self.complain(&message, false, bench);
            self.abort(&failure, &message, bench);
            bench
                .recorder
                .failure(now_ns, &self.attempt, failure, || message);
        } else {
            let (interpreter, program) = (&self.interpreter, bench.program);
            let message = || format!("{}: {}", interpreter.place(program), problem());
            bench
                .recorder
                .failure(now_ns, &self.attempt, failure, message);
        }
        self.done += 1;
        let fate = match failure {
            Failure::Sqlstate(code) if code == *b"40001" => Fate::Serialization,
            Failure::Sqlstate(code) if code == *b"40P01" => Fate::Deadlock,
            _ => Fate::Failed,
        };
        self.write_log(now_ns, &self.attempt, fate, bench);
        self.rest.begin(now_ns, 0, &bench.pace);
    }

    /// After a failure: rolls back what is open, else goes on.
    pub(super) fn settle(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        if self.block == b'I' && !self.interpreter.in_pipeline() {
            self.finish(clock::now_ns(), bench, output);
        } else {
            self.interpreter.roll_back(output);
            self.state = State::RollingBack { retries: false };
        }
    }
}
