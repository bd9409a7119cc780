//! One client: a connection that runs one transaction after the other.
//!
//! Enters: bytes received on its connection, and permission to begin. Leaves: bytes to send,
//! ends of transactions to the recorder. Never: waits, reads a socket, or allocates on the way
//! of a transaction that succeeds.

mod capture;
mod interpreter;
mod shell;

use std::sync::Arc;

use pgassay_session::board::Board;
use pgassay_session::{ServerError, clock};

use crate::messages::{COPY_REFUSAL, Malformed, Message, Reader, SYNC, server_error, sqlstate};
use crate::program::Program;
use crate::random::{Purpose, Random};
use crate::record::{Failure, Recorder};
use crate::script::{Fault, Value};
use crate::timers::Timers;
use interpreter::{Interpreter, Stop};

/// Transactions that end without a wait before others have their turn.
const MOST_AT_ONCE: u32 = 64;

/// What the clients of one worker share.
pub struct Bench<'p> {
    pub program: &'p Program,
    pub board: Arc<Board>,
    pub recorder: Recorder,
    /// Transactions after which a client is done, if a count ends the load.
    pub quota: Option<u64>,
    /// Arguments of an expression under evaluation.
    pub stack: Vec<Value>,
    /// Clients to be woken.
    pub timers: Timers,
    /// Whether a client is idle because its script failed by itself.
    pub has_paused: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Between transactions, with nothing under way.
    Idle,
    /// A statement of a transaction is under way.
    Waiting,
    /// The script of a transaction sleeps.
    Sleeping,
    /// The ROLLBACK of a failed transaction is under way.
    RollingBack,
    /// The connection is lost.
    Gone,
}

pub struct Client {
    /// Among all clients of the load.
    pub number: usize,
    pub state: State,
    /// Transactions that ended, well or not.
    pub done: u64,
    /// Those that succeeded in measured steps; none if it took part in no such step.
    pub measured: Option<u64>,
    reader: Reader,
    choice: Random,
    interpreter: Interpreter,
    began_ns: i64,
    /// When the script's sleep ends.
    wake_ns: i64,
    /// Transactions in a row that ended without a wait.
    at_once: u32,
    /// What went wrong with the statement under way.
    failure: Option<(Failure, Option<ServerError>)>,
    /// The server's word on the transaction block: I, T or E.
    block: u8,
}

impl Client {
    #[must_use]
    pub fn new(number: usize, seed: u64, program: &Program, prepared: Vec<bool>) -> Client {
        Client {
            number,
            state: State::Idle,
            done: 0,
            measured: None,
            reader: Reader::default(),
            choice: Random::new(seed, number, Purpose::Choice),
            interpreter: Interpreter::new(number, program, prepared),
            began_ns: 0,
            wake_ns: 0,
            at_once: 0,
            failure: None,
            block: b'I',
        }
    }

    /// Whether a transaction or its ROLLBACK is under way.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.is_in_transaction() || self.state == State::RollingBack
    }

    fn is_in_transaction(&self) -> bool {
        matches!(self.state, State::Waiting | State::Sleeping)
    }

    /// Whether the client will never run again, however long the schedule goes on.
    #[must_use]
    pub fn is_finished(&self, bench: &Bench<'_>) -> bool {
        let has_done_all = bench.quota.is_some_and(|quota| self.done >= quota);
        self.state == State::Gone || (self.state == State::Idle && has_done_all)
    }

    /// Whether the client is idle and the schedule lets it run.
    #[must_use]
    pub fn may_begin(&self, bench: &Bench<'_>) -> bool {
        self.state == State::Idle
            && bench
                .recorder
                .step()
                .is_some_and(|step| self.number < step.clients)
            && bench.quota.is_none_or(|quota| self.done < quota)
    }

    /// Begins a transaction if the client is idle and the schedule lets it.
    pub fn begin(&mut self, now_ns: i64, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        if !self.may_begin(bench) {
            return;
        }
        if bench.recorder.step().is_some_and(|step| step.measured) {
            self.measured.get_or_insert(0);
        }
        let scenario = bench.program.mix.choose(&mut self.choice);
        self.interpreter.begin(scenario);
        self.began_ns = now_ns;
        // Scenarios were checked to be fewer than 2^16.
        let scenario = u16::try_from(scenario).unwrap_or(u16::MAX);
        bench.board.enter(self.number, scenario);
        self.proceed(bench, output);
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
                // Nobody knows which of the messages under way the server still reads.
                Message::CopyIn if self.interpreter.in_pipeline() => return Err(Malformed),
                Message::CopyIn => {
                    output.extend_from_slice(COPY_REFUSAL);
                    let is_waiting = self.state == State::Waiting;
                    if is_waiting && self.interpreter.is_extended(bench.program) {
                        // The server ignored the first Sync, being about to read data.
                        output.extend_from_slice(SYNC);
                    }
                }
            }
        }
        self.reader = reader;
        Ok(())
    }

    /// The connection is lost: no more of this client.
    pub fn lose(&mut self, problem: &str, bench: &mut Bench<'_>) {
        if self.state == State::Gone {
            return;
        }
        if self.is_in_transaction() {
            let problem = match self.failure.take() {
                Some((_, Some(error))) => error.to_string(),
                _ => problem.to_owned(),
            };
            let problem = || format!("connection lost: {problem}");
            self.end_failed(Failure::Connection, problem, bench);
        }
        self.state = State::Gone;
        bench.board.leave(self.number);
        bench.recorder.lose_connection();
    }

    /// The time has come that a timer of this client was set to.
    pub fn wake(&mut self, now_ns: i64, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        self.at_once = 0;
        match self.state {
            State::Sleeping if now_ns >= self.wake_ns => self.proceed(bench, output),
            State::Idle => self.begin(now_ns, bench, output),
            _ => {}
        }
    }

    /// Runs the script on, up to what it must wait for.
    fn proceed(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        match self
            .interpreter
            .run(bench.program, &mut bench.stack, output)
        {
            Stop::Sent => {
                self.at_once = 0;
                self.state = State::Waiting;
            }
            Stop::Sleep(duration_ns) => {
                self.wake_ns = clock::now_ns().saturating_add(duration_ns);
                self.state = State::Sleeping;
                bench.timers.set(self.wake_ns, self.number);
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

    fn failed(&mut self, fields: &[u8], bench: &Bench<'_>) {
        if self.failure.is_some() {
            return;
        }
        let failure = Failure::Sqlstate(sqlstate(fields));
        // Only a message that may be reported is worth taking apart.
        let parsed = bench.recorder.wants_message() || self.state != State::Waiting;
        self.failure = Some((failure, parsed.then(|| server_error(fields)).flatten()));
    }

    /// The server has answered all that was sent.
    fn ready(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) -> Result<(), Malformed> {
        // In a pipeline the server may answer while the script sleeps: of that, later.
        if self.state == State::Sleeping {
            return Ok(());
        }
        match (self.state, self.failure.take()) {
            (State::Waiting, None) => match self.interpreter.answered(bench.program) {
                Ok(()) => self.proceed(bench, output),
                Err(fault) => self.end_by_fault(&fault, bench, output),
            },
            (State::Waiting, Some((failure, error))) => {
                self.interpreter.failed();
                let problem = || error.map_or_else(|| failure.name(), |error| error.to_string());
                self.end_failed(failure, problem, bench);
                self.settle(bench, output);
            }
            (State::RollingBack, _) => {
                if self.block != b'I' {
                    // A server that cannot roll back is of no more use.
                    return Err(Malformed);
                }
                self.state = State::Idle;
                self.begin(clock::now_ns(), bench, output);
            }
            (State::Idle | State::Sleeping | State::Gone, _) => {}
        }
        Ok(())
    }

    fn end_succeeded(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        let now_ns = clock::now_ns();
        let latency_ns = now_ns - self.began_ns;
        let counts = bench
            .recorder
            .success(now_ns, self.interpreter.scenario(), latency_ns);
        if counts && bench.recorder.step().is_some_and(|step| step.measured) {
            *self.measured.get_or_insert(0) += 1;
        }
        self.done += 1;
        self.state = State::Idle;
        self.at_once += 1;
        if !self.may_begin(bench) {
            bench.board.leave(self.number);
        } else if self.at_once < MOST_AT_ONCE {
            self.begin(now_ns, bench, output);
        } else {
            // A script that never waits would keep the other clients waiting.
            bench.timers.set(now_ns, self.number);
        }
    }

    /// The script's own mistake ends the transaction.
    fn end_by_fault(&mut self, fault: &Fault, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        self.end_failed(Failure::Client, || fault.to_string(), bench);
        self.settle_after_fault(bench, output);
    }

    /// `problem` is asked for only if it is to be reported.
    fn end_failed(
        &mut self,
        failure: Failure,
        problem: impl FnOnce() -> String,
        bench: &mut Bench<'_>,
    ) {
        let (interpreter, program) = (&self.interpreter, bench.program);
        let message = || format!("{}: {}", interpreter.place(program), problem());
        let scenario = interpreter.scenario();
        bench
            .recorder
            .failure(clock::now_ns(), scenario, failure, message);
        self.done += 1;
    }

    /// After a failure: rolls back what is open, else begins anew.
    fn settle(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        if self.block == b'I' {
            self.state = State::Idle;
            self.begin(clock::now_ns(), bench, output);
            if self.state == State::Idle {
                bench.board.leave(self.number);
            }
        } else {
            self.interpreter.roll_back(output);
            self.state = State::RollingBack;
        }
    }

    /// As `settle`, but a script that fails before it sends anything must not go round and
    /// round in here: the worker begins its next transaction after a pause.
    fn settle_after_fault(&mut self, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        if self.interpreter.in_pipeline() {
            self.interpreter.roll_back(output);
            self.state = State::RollingBack;
        } else if self.block == b'I' {
            self.state = State::Idle;
            bench.has_paused = true;
            bench.board.leave(self.number);
        } else {
            self.settle(bench, output);
        }
    }
}
