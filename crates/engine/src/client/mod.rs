//! One client: a connection that runs one transaction after the other.
//!
//! Enters: bytes received on its connection, and permission to begin. Leaves: bytes to send,
//! ends of transactions to the recorder. Never: waits, reads a socket, or allocates on the way
//! of a transaction that succeeds.

mod capture;
mod complaint;
mod ending;
mod interpreter;
mod pace;
mod pause;
mod questions;
mod session;
mod shell;

use std::sync::Arc;

use pgassay_session::board::Board;
use pgassay_session::{CancelKey, ServerError, clock};

use crate::config::{Reconnect, Seat};
use crate::messages::{Malformed, Message, Reader, server_error, sqlstate};
use crate::program::{Program, Work};
use crate::random::{Purpose, Random};
use crate::record::{Attempt, Failure, Recorder};
use crate::script::{Fault, Value};
use crate::setup::Setup;
use interpreter::{Interpreter, Stop};
pub use pace::Pace;
use pace::Rest;

/// What the clients of one worker share.
pub struct Bench<'p> {
    pub program: &'p Program,
    pub board: Arc<Board>,
    pub recorder: Recorder,
    /// Transactions after which a client is done, if a count ends the load.
    pub quota: Option<u64>,
    /// Arguments of an expression under evaluation.
    pub stack: Vec<Value>,
    pub pace: Pace<'p>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Between transactions, with nothing under way.
    Idle,
    /// So many statements of a slice's variant are under way.
    Switching(usize),
    /// A statement of a transaction is under way.
    Waiting,
    /// The script of a transaction sleeps.
    Sleeping,
    /// The ROLLBACK of a failed transaction is under way, which may then be tried again.
    RollingBack { retries: bool },
    /// The connection is lost; another is sought after a pause.
    Lost,
    /// Another connection is being opened.
    Opening,
    /// The connection is lost for good.
    Gone,
}

pub struct Client {
    /// Among all clients of the load.
    pub number: usize,
    /// Among those of its worker.
    pub place: usize,
    pub state: State,
    /// Transactions that ended, well or not, or were skipped.
    pub done: u64,
    /// Those that succeeded in measured steps; none if it took part in no such step.
    pub measured: Option<u64>,
    pub key: CancelKey,
    pub seat: Seat,
    reader: Reader,
    choice: Random,
    interpreter: Interpreter,
    attempt: Attempt,
    rest: Rest,
    /// Whether there is a session that may run a transaction.
    is_open: bool,
    /// When the script's sleep ends.
    wake_ns: i64,
    /// Transactions in a row that ended without a wait.
    at_once: u32,
    /// When the command under way began, where that is measured.
    began_ns: i64,
    /// That of the slice for which the session is set.
    variant: Option<usize>,
    /// What went wrong with the statement under way.
    failure: Option<(Failure, Option<ServerError>)>,
    /// The server's word on the transaction block: I, T or E.
    block: u8,
}

impl Client {
    #[must_use]
    pub fn new(
        number: usize,
        seat: Seat,
        setup: &Setup,
        key: CancelKey,
        prepared: Vec<bool>,
    ) -> Client {
        let seed = setup.configuration.seed;
        Client {
            number,
            place: 0,
            state: State::Idle,
            done: 0,
            measured: None,
            key,
            seat,
            reader: Reader::default(),
            choice: Random::new(seed, seat.ordinal, Purpose::Choice),
            interpreter: Interpreter::new(seat.ordinal, &setup.program, prepared),
            attempt: Attempt::default(),
            rest: Rest::new(seat.ordinal, seed),
            is_open: true,
            wake_ns: 0,
            at_once: 0,
            began_ns: 0,
            variant: None,
            failure: None,
            block: b'I',
        }
    }

    /// Whether a transaction is under way, or what follows a failed one.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.state == State::Sleeping || self.awaits_server()
    }

    /// The transaction under way, if its end has not been counted yet.
    #[must_use]
    pub fn under_way(&self) -> Option<&Attempt> {
        let is_under_way = matches!(
            self.state,
            State::Waiting | State::Sleeping | State::RollingBack { retries: true }
        );
        is_under_way.then_some(&self.attempt)
    }

    /// Whether a statement is under way.
    #[must_use]
    pub fn awaits_server(&self) -> bool {
        matches!(
            self.state,
            State::Waiting | State::RollingBack { .. } | State::Switching(_)
        )
    }

    /// Whether there is a session with nothing under way.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.state == State::Idle && self.is_open
    }

    /// Whether the client will never run again, however long the schedule goes on.
    #[must_use]
    pub fn is_finished(&self, bench: &Bench<'_>) -> bool {
        let has_done_all = bench.quota.is_some_and(|quota| self.done >= quota);
        self.state == State::Gone || (!self.is_busy() && has_done_all)
    }

    /// Whether the schedule lets the client run.
    fn may_begin(&self, bench: &Bench<'_>) -> bool {
        let pools = bench.recorder.step().map(|step| &step.pools);
        let size = pools.and_then(|pools| pools.get(self.seat.pool));
        size.is_some_and(|size| self.seat.rank < *size)
            && bench.quota.is_none_or(|quota| self.done < quota)
    }

    /// Takes what the server has sent.
    pub fn receive(
        &mut self,
        mut bytes: &[u8],
        bench: &mut Bench<'_>,
        output: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        // The reader is out of the client while its messages are looked at.
        let mut reader = std::mem::take(&mut self.reader);
        loop {
            reader.keep_rows(self.interpreter.wants_rows());
            let Some(message) = reader.next(&mut bytes)? else {
                break;
            };
            match message {
                Message::Other => {}
                Message::Ready(block) => {
                    self.block = block;
                    if self.interpreter.ready() {
                        self.ready(bench, output)?;
                    }
                }
                Message::ParseComplete => self.interpreter.parsed(),
                Message::Columns(body) => self.interpreter.columns(body),
                Message::Row(body) => self.interpreter.row(body),
                Message::Complete => self.interpreter.result_ended(bench.program),
                Message::Error(fields) => self.failed(fields, bench),
                Message::CopyIn => {
                    let in_script = matches!(self.state, State::Waiting | State::Sleeping);
                    let is_extended = in_script && self.interpreter.is_extended(bench.program);
                    self.interpreter.refuse_copy(is_extended, output);
                }
            }
        }
        self.reader = reader;
        Ok(())
    }

    /// The connection is lost.
    pub fn lose(&mut self, problem: &str, bench: &mut Bench<'_>) {
        if !self.is_open {
            return;
        }
        if self.under_way().is_some() {
            let problem = match self.failure.take() {
                Some((_, Some(error))) => error.to_string(),
                _ => problem.to_owned(),
            };
            let problem = || format!("connection lost: {problem}");
            self.end_failed(Failure::Connection, problem, bench);
        } else {
            self.abort(&Failure::Connection, problem, bench);
        }
        bench.board.leave(self.number);
        if bench.pace.reconnect == Reconnect::Never {
            self.is_open = false;
            self.state = State::Gone;
            bench.recorder.lose_connection();
        } else {
            self.wait_for_session(bench);
        }
    }

    /// Runs the script on, up to what it must wait for.
    fn proceed(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        let stop = if bench.recorder.measures_commands() {
            self.run_measured(bench, output)
        } else {
            let (program, stack) = (bench.program, &mut bench.stack);
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
                self.wake_at(self.wake_ns, bench);
            }
            Stop::Finished if self.block == b'I' => self.end_succeeded(bench, output),
            Stop::Finished => {
                let fault =
                    "end of script reached without completing the last transaction; add END;";
                self.end_by_fault(&Fault::new(fault), bench, output);
            }
            Stop::Faulted(fault) => self.end_by_fault(&fault, bench, output),
        }
    }

    /// Runs the script on and counts the time of each command; of statements in a pipeline not:
    /// they have none of their own.
    fn run_measured(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) -> Stop {
        let recorder = &mut bench.recorder;
        let mut began_ns = clock::now_ns();
        let stop = self
            .interpreter
            .run(bench.program, &mut bench.stack, output, |operation| {
                let now_ns = clock::now_ns();
                if !matches!(operation.work, Work::Send { .. }) {
                    recorder.command(operation.number, began_ns, now_ns);
                }
                began_ns = now_ns;
            });
        self.began_ns = began_ns;
        stop
    }

    /// The command under way has come to its end.
    fn count_command(&self, bench: &mut Bench<'_>) {
        if bench.recorder.measures_commands()
            && let Some(number) = self.interpreter.command(bench.program)
        {
            let now_ns = clock::now_ns();
            bench.recorder.command(number, self.began_ns, now_ns);
        }
    }

    fn failed(&mut self, fields: &[u8], bench: &Bench<'_>) {
        if self.failure.is_some() {
            return;
        }
        let failure = Failure::Sqlstate(sqlstate(fields));
        // Only a message that may be reported is worth taking apart.
        let is_told = bench.recorder.wants_message() || bench.pace.tells_failures();
        let parsed = is_told || self.state != State::Waiting;
        self.failure = Some((failure, parsed.then(|| server_error(fields)).flatten()));
    }

    /// The script's sleep may be over.
    fn wake(&mut self, now_ns: i64, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        if now_ns >= self.wake_ns {
            self.count_command(bench);
            self.interpreter.slept();
            self.proceed(bench, output);
        }
    }

    /// The server has answered all that was sent.
    fn ready(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) -> Result<(), Malformed> {
        // In a pipeline the server may answer while the script sleeps: of that, later.
        if self.state == State::Sleeping {
            return Ok(());
        }
        match (self.state, self.failure.take()) {
            (State::Waiting, None) => {
                self.count_command(bench);
                match self.interpreter.answered(bench.program) {
                    Ok(()) => self.proceed(bench, output),
                    Err(fault) => self.end_by_fault(&fault, bench, output),
                }
            }
            (State::Waiting, Some((failure, error))) => {
                self.interpreter.failed();
                let retries = self.may_retry(&failure, bench);
                if let Some(number) = self.interpreter.command(bench.program) {
                    bench.recorder.command_failed(number, retries);
                }
                let problem = || error.map_or_else(|| failure.name(), |error| error.to_string());
                if retries {
                    if bench.pace.tells_failures() {
                        let problem = self.placed(problem, bench);
                        self.complain(&problem, true, bench);
                    }
                    self.retry(bench, output);
                    return Ok(());
                }
                self.end_failed(failure, problem, bench);
                self.settle(bench, output);
            }
            (State::RollingBack { retries }, _) => {
                if self.block != b'I' {
                    // A server that cannot roll back is of no more use.
                    return Err(Malformed);
                }
                if retries {
                    self.proceed(bench, output);
                } else {
                    self.finish(clock::now_ns(), bench, output);
                }
            }
            (State::Switching(count), failure) => {
                let problem = failure.map(|(failure, error)| {
                    error.map_or_else(|| failure.name(), |error| error.to_string())
                });
                self.switched(count.saturating_sub(1), problem, bench, output);
            }
            (State::Idle | State::Sleeping | State::Lost | State::Opening | State::Gone, _) => {}
        }
        Ok(())
    }
}
