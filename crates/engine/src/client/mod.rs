//! One client: a connection that runs one transaction after the other.
//!
//! Enters: bytes received on its connection, and permission to begin. Leaves: bytes to send,
//! ends of transactions to the recorder. Never: waits, reads a socket, or allocates on the way
//! of a transaction that succeeds.

mod ending;
mod failure_report;
mod interpreter;
mod pace;
mod session;
mod state;

use std::sync::Arc;

use pgassay_session::board::Board;
use pgassay_session::{CancelKey, ServerError, clock};

use crate::config::{Assignment, Reconnect};
use crate::messages::{Malformed, Message, Reader, server_error, sqlstate};
use crate::program::{OperationKind, Program};
use crate::random::{Purpose, Random};
use crate::record::{Attempt, Failure, Recorder};
use crate::script::{Fault, Value};
use crate::setup::Setup;
use failure_report::without_text;
use interpreter::{Interpreter, Stop};
use pace::IdleState;
pub use pace::Pace;
pub use state::State;

/// The state that the clients of one worker share.
pub struct WorkerContext<'p> {
    pub program: &'p Program,
    pub board: Arc<Board>,
    pub recorder: Recorder,
    /// Transactions after which a client is done, if a count ends the load.
    pub quota: Option<u64>,
    /// Scratch space for the evaluation of expressions.
    pub stack: Vec<Value>,
    pub pace: Pace<'p>,
}

pub struct Client {
    /// Index among all clients of this engine: its slot of the board.
    pub slot: usize,
    /// Index among the clients of its worker.
    pub place: usize,
    pub state: State,
    /// Transactions that succeeded, failed or were skipped.
    pub done: u64,
    /// Successes in measured steps; none if it took part in no measured step.
    pub measured: Option<u64>,
    pub key: CancelKey,
    pub assignment: Assignment,
    reader: Reader,
    choice: Random,
    interpreter: Interpreter,
    attempt: Attempt,
    idle: IdleState,
    /// Whether the session is usable.
    is_open: bool,
    /// When the script's sleep ends.
    wake_ns: i64,
    /// Transactions in a row that ended without a wait.
    at_once: u32,
    /// When the current command began, if commands are measured.
    began_ns: i64,
    /// The variant to which the session is set.
    variant: Option<usize>,
    /// The error of the running statement.
    failure: Option<(Failure, Option<ServerError>)>,
    /// The server's transaction status: I, T or E.
    block: u8,
}

impl Client {
    #[must_use]
    pub fn new(
        slot: usize,
        assignment: Assignment,
        setup: &Setup,
        key: CancelKey,
        prepared: Vec<bool>,
    ) -> Client {
        let seed = setup.configuration.seed;
        Client {
            slot,
            place: 0,
            state: State::Idle,
            done: 0,
            measured: None,
            key,
            assignment,
            reader: Reader::default(),
            choice: Random::new(seed, assignment.ordinal, Purpose::Choice),
            interpreter: Interpreter::new(assignment.ordinal, &setup.program, prepared),
            attempt: Attempt::default(),
            idle: IdleState::new(assignment.ordinal, seed),
            is_open: true,
            wake_ns: 0,
            at_once: 0,
            began_ns: 0,
            variant: None,
            failure: None,
            block: b'I',
        }
    }

    /// Whether a transaction or the rollback of a failed one is running.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.state == State::Sleeping || self.awaits_server()
    }

    /// The running transaction, if its end has not been counted yet.
    #[must_use]
    pub fn under_way(&self) -> Option<&Attempt> {
        let is_under_way = matches!(
            self.state,
            State::Waiting | State::Sleeping | State::RollingBack { retries: true }
        );
        is_under_way.then_some(&self.attempt)
    }

    /// Whether a statement is running.
    #[must_use]
    pub fn awaits_server(&self) -> bool {
        matches!(
            self.state,
            State::Waiting | State::RollingBack { .. } | State::Switching
        )
    }

    /// Whether there is an idle session.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.state == State::Idle && self.is_open
    }

    /// Whether the client will never run again in this load.
    #[must_use]
    pub fn is_finished(&self, context: &WorkerContext<'_>) -> bool {
        let has_done_all = context.quota.is_some_and(|quota| self.done >= quota);
        self.state == State::Gone || (!self.is_busy() && has_done_all)
    }

    /// Whether the schedule lets the client run.
    fn may_begin(&self, context: &WorkerContext<'_>) -> bool {
        let pools = context.recorder.step().map(|step| &step.pools);
        let size = pools.and_then(|pools| pools.get(self.assignment.pool));
        size.is_some_and(|size| self.assignment.rank < *size)
            && context.quota.is_none_or(|quota| self.done < quota)
    }

    /// Handles bytes that the server has sent.
    pub fn receive(
        &mut self,
        mut bytes: &[u8],
        context: &mut WorkerContext<'_>,
        output: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        // The reader is taken out of the client while its messages are handled.
        let mut reader = std::mem::take(&mut self.reader);
        loop {
            reader.keep_rows(self.interpreter.wants_rows());
            let Some(message) = reader.next(&mut bytes)? else {
                break;
            };
            match message {
                Message::Other => {}
                Message::Error(fields) => self.failed(fields, context),
                // What was written last has not reached the server yet.
                _ if self.interpreter.is_answered() || !output.is_empty() => {
                    return Err(Malformed("an answer that nothing asked for"));
                }
                Message::Ready(block) => {
                    self.block = block;
                    let has_failed =
                        self.failure.is_some() || matches!(self.state, State::RollingBack { .. });
                    if self.interpreter.ready(has_failed)? {
                        self.ready(context, output)?;
                    }
                }
                Message::ParseComplete => self.interpreter.parsed(),
                Message::Columns(body) => self.interpreter.columns(body),
                Message::Row(body) => self.interpreter.row(body),
                Message::Complete => self.interpreter.result_ended(context.program)?,
                Message::CopyIn => {
                    let in_script = matches!(self.state, State::Waiting | State::Sleeping);
                    let is_extended = in_script && self.interpreter.is_extended(context.program);
                    self.interpreter.refuse_copy(is_extended, output);
                }
            }
        }
        self.reader = reader;
        Ok(())
    }

    /// Handles the loss of the connection.
    pub fn connection_lost(&mut self, problem: &str, context: &mut WorkerContext<'_>) {
        if !self.is_open {
            return;
        }
        // A server that ends a session says why before it closes the connection.
        let (failure, problem) = match self.failure.take() {
            Some((failure, Some(error))) => (failure, error.to_string()),
            _ => (Failure::Connection, problem.to_owned()),
        };
        let problem = || format!("connection lost: {problem}");
        let is_under_way = self.under_way().is_some();
        let message = || match is_under_way {
            true => self.placed(problem, context),
            false => problem(),
        };
        if context.recorder.wants_message() {
            let (now_ns, scenario) = (clock::now_ns(), self.interpreter.scenario());
            let message = message();
            context
                .recorder
                .note_error(now_ns, scenario, failure, || message);
        }
        if is_under_way {
            self.end_failed(Failure::Connection, problem, context);
        } else {
            self.abort(&Failure::Connection, &problem(), context);
        }
        context.board.leave(self.slot);
        if context.pace.reconnect == Reconnect::Never {
            self.is_open = false;
            self.state = State::Gone;
            context.recorder.count_lost_connection();
        } else {
            self.wait_for_session(context);
        }
    }

    /// Continues the script up to the next wait.
    fn proceed(&mut self, context: &mut WorkerContext<'_>, output: &mut Vec<u8>) {
        let stop = if context.pace.is_over {
            Stop::Faulted(Fault::new("the load has ended"))
        } else if context.recorder.measures_commands() {
            self.run_measured(context, output)
        } else {
            let (program, stack) = (context.program, &mut context.stack);
            self.interpreter.run(program, stack, output, |_| ())
        };
        match stop {
            Stop::Sent => {
                self.at_once = 0;
                self.state = State::Waiting;
            }
            Stop::Sleep(duration_ns) => {
                self.at_once = 0;
                self.wake_ns = clock::now_ns().saturating_add(duration_ns);
                self.state = State::Sleeping;
                self.wake_at(self.wake_ns, context);
            }
            Stop::Finished if self.block == b'I' => self.end_succeeded(context, output),
            Stop::Finished => {
                let fault =
                    "end of script reached without completing the last transaction; add END;";
                self.end_by_fault(&Fault::new(fault), context, output);
            }
            Stop::Faulted(fault) => self.end_by_fault(&fault, context, output),
        }
    }

    /// Continues the script and counts the time of each command, except statements in a pipeline,
    /// which are not waited for one by one.
    fn run_measured(&mut self, context: &mut WorkerContext<'_>, output: &mut Vec<u8>) -> Stop {
        let recorder = &mut context.recorder;
        let mut began_ns = clock::now_ns();
        let stop = self
            .interpreter
            .run(context.program, &mut context.stack, output, |operation| {
                let now_ns = clock::now_ns();
                if !matches!(operation.work, OperationKind::Send { .. }) {
                    recorder.command(operation.number, began_ns, now_ns);
                }
                began_ns = now_ns;
            });
        self.began_ns = began_ns;
        stop
    }

    /// Counts the end of the current command.
    fn count_command(&self, context: &mut WorkerContext<'_>) {
        if context.recorder.measures_commands()
            && let Some(number) = self.interpreter.command(context.program)
        {
            let now_ns = clock::now_ns();
            context.recorder.command(number, self.began_ns, now_ns);
        }
    }

    fn failed(&mut self, fields: &[u8], context: &WorkerContext<'_>) {
        if self.failure.is_some() {
            return;
        }
        let failure = Failure::Sqlstate(sqlstate(fields));
        // The message is parsed only if it may be reported.
        let is_told = context.recorder.wants_message() || context.pace.reports_failures();
        let parsed = is_told || self.state != State::Waiting;
        let mut error = parsed.then(|| server_error(fields)).flatten();
        if self.is_private(context)
            && let Some(error) = &mut error
        {
            without_text(error);
        }
        // Where no statement runs, only the end of the session is an error; libpq takes others
        // for notices.
        let is_end = || error.as_ref().is_some_and(ServerError::is_fatal);
        if !self.interpreter.is_answered() || is_end() {
            self.failure = Some((failure, error));
        }
    }

    /// Continues the script if its sleep is over.
    fn wake(&mut self, now_ns: i64, context: &mut WorkerContext<'_>, output: &mut Vec<u8>) {
        if now_ns >= self.wake_ns {
            self.count_command(context);
            self.interpreter.sleep_ended();
            self.proceed(context, output);
        }
    }

    /// Handles ReadyForQuery after all requests were answered.
    fn ready(
        &mut self,
        context: &mut WorkerContext<'_>,
        output: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        // In a pipeline the server may answer while the script sleeps: handled after the sleep.
        if self.state == State::Sleeping {
            return Ok(());
        }
        match (self.state, self.failure.take()) {
            (State::Waiting, None) => {
                self.count_command(context);
                match self.interpreter.answered(context.program)? {
                    Ok(()) => self.proceed(context, output),
                    Err(fault) => self.end_by_fault(&fault, context, output),
                }
            }
            (State::Waiting, Some((failure, error))) => {
                self.interpreter.failed();
                let retries = self.may_retry(&failure, context);
                if let Some(number) = self.interpreter.command(context.program) {
                    context.recorder.command_failed(number, retries);
                }
                let problem = || error.map_or_else(|| failure.name(), |error| error.to_string());
                if retries {
                    if context.pace.reports_failures() {
                        let problem = self.placed(problem, context);
                        self.report_failure(&problem, true, context);
                    }
                    self.retry(context, output);
                    return Ok(());
                }
                self.end_failed(failure, problem, context);
                self.roll_back_or_finish(context, output);
            }
            (State::RollingBack { retries }, _) => {
                if self.block != b'I' {
                    return Err(Malformed("ROLLBACK has not ended the transaction"));
                }
                if retries {
                    self.proceed(context, output);
                } else {
                    self.finish(clock::now_ns(), context, output);
                }
            }
            (State::Switching, failure) => {
                let problem = failure.map(|(failure, error)| {
                    error.map_or_else(|| failure.name(), |error| error.to_string())
                });
                self.switched(problem, context, output);
            }
            (State::Idle | State::Sleeping | State::Lost | State::Opening | State::Gone, _) => {}
        }
        Ok(())
    }
}
