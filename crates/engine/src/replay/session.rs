//! One session of a trace: its statements one after the other, each with its time.
//!
//! Enters: rows that are due, bytes of the server. Leaves: bytes to send; counts. Never: sends a
//! statement before its predecessor in the session has answered.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::BytesMut;
use pgassay_session::{CancelKey, clock};

use super::chunk::{Chunk, Kind};
use super::counts::Counts;
use super::request::{self, Prepared, begins_with};
use crate::messages::{COPY_REFUSAL, Malformed, Message, Reader, SYNC, sqlstate};
use crate::record::{Attempt, Failure, Recorder};

/// A prepared statement that the session does not have.
const NO_STATEMENT: &[u8; 5] = b"26000";

/// A row that is due.
#[derive(Debug)]
pub struct Due {
    pub chunk: Arc<Chunk>,
    pub place: usize,
    pub at_ns: i64,
}

/// What counts and what sessions share.
pub struct Context {
    pub recorder: Recorder,
    pub counts: Counts,
    /// Rows that wait for their predecessors.
    pub queued: usize,
    pub is_paced: bool,
    pub buffer: BytesMut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It has no connection yet.
    Closed,
    Idle,
    Busy,
    /// Its connection was lost or refused: its statements fail.
    Lost,
    /// The trace closed it.
    Left,
}

/// The statement under way.
#[derive(Debug, Default)]
struct Running {
    attempt: Attempt,
    due_ns: i64,
    number: u32,
    failed_there: Option<[u8; 5]>,
    is_extended: bool,
    name: String,
    /// Whether it undoes the transaction that it ends.
    undoes: bool,
}

pub struct Session {
    pub trace_session: i32,
    pub key: Option<CancelKey>,
    pub successes: u64,
    state: State,
    /// Whether it leaves when nothing is queued.
    leaves: bool,
    queue: VecDeque<Due>,
    reader: Reader,
    prepared: Prepared,
    running: Running,
    failure: Option<[u8; 5]>,
    /// When the last statement was answered, or the session opened.
    free_ns: i64,
    block: u8,
}

impl Session {
    #[must_use]
    pub fn new(trace_session: i32) -> Session {
        Session {
            trace_session,
            key: None,
            successes: 0,
            state: State::Closed,
            leaves: false,
            queue: VecDeque::new(),
            reader: Reader::default(),
            prepared: Prepared::default(),
            running: Running::default(),
            failure: None,
            free_ns: 0,
            block: b'I',
        }
    }

    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.state == State::Busy
    }

    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Idle | State::Busy)
    }

    #[must_use]
    pub fn has_left(&self) -> bool {
        self.state == State::Left
    }

    /// The statement that was under way when the replay ended.
    #[must_use]
    pub fn under_way(&self) -> Option<&Attempt> {
        self.is_busy().then_some(&self.running.attempt)
    }

    /// Takes a row that is due; after the last one the session leaves.
    pub fn push(&mut self, due: Due, is_last: bool, context: &mut Context) {
        self.leaves |= is_last;
        context.queued += 1;
        self.queue.push_back(due);
    }

    pub fn opened(&mut self, key: CancelKey, context: &mut Context) {
        self.key = Some(key);
        self.state = State::Idle;
        self.free_ns = clock::now_ns();
        context.counts.opened();
    }

    /// The connection could not be opened, or was lost.
    pub fn lost(&mut self, problem: &str, context: &mut Context) {
        if self.state == State::Lost || self.state == State::Left {
            return;
        }
        let is_under_way = self.is_busy();
        self.state = State::Lost;
        if is_under_way {
            // A server that ends a session says why before it closes the connection.
            let failure = self
                .failure
                .take()
                .map_or(Failure::Connection, Failure::Sqlstate);
            self.failed(failure, problem, context);
        } else {
            let (now_ns, message) = (clock::now_ns(), problem.to_owned());
            context
                .recorder
                .note_error(now_ns, 0, Failure::Connection, || message);
        }
    }

    /// Begins the next statement that is due, if none is under way.
    pub fn proceed(&mut self, context: &mut Context, output: &mut Vec<u8>) {
        while matches!(self.state, State::Idle | State::Lost) {
            let Some(due) = self.queue.pop_front() else {
                if self.leaves {
                    self.state = State::Left;
                }
                return;
            };
            context.queued -= 1;
            let Some(row) = due.chunk.row(due.place) else {
                continue;
            };
            match row.kind {
                Kind::Connect | Kind::Disconnect => continue,
                Kind::Simple | Kind::Extended | Kind::Prepared => {}
            }
            let due_ns = due.at_ns.max(self.free_ns);
            let is_lost = self.state == State::Lost;
            let written = request::write(
                &due.chunk,
                due.place,
                &row,
                &mut self.prepared,
                &mut context.buffer,
                output,
            );
            let began_ns = clock::now_ns();
            self.running = Running {
                attempt: Attempt {
                    due_ns: context.is_paced.then_some(due_ns),
                    began_ns,
                    tries: 1,
                    ..Attempt::default()
                },
                due_ns,
                number: row.number,
                failed_there: row.failed_there,
                is_extended: row.kind != Kind::Simple,
                name: row.name.to_owned(),
                undoes: begins_with(row.text, "rollback") || begins_with(row.text, "abort"),
            };
            if is_lost {
                output.clear();
                self.failed(Failure::Connection, "its session was lost", context);
            } else if let Err(error) = written {
                self.failed(Failure::Client, &error.to_string(), context);
            } else {
                self.state = State::Busy;
                if context.is_paced {
                    context.counts.began(due.at_ns, due_ns, began_ns);
                    context.recorder.began_on_time(due_ns, began_ns);
                }
            }
        }
    }

    /// Handles bytes that the server has sent.
    pub fn receive(
        &mut self,
        mut bytes: &[u8],
        context: &mut Context,
        output: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        let mut reader = std::mem::take(&mut self.reader);
        while let Some(message) = reader.next(&mut bytes)? {
            match message {
                Message::Ready(block) => {
                    if self.state != State::Busy {
                        return Err(Malformed("an answer that nothing asked for"));
                    }
                    self.answered(block, context);
                    self.proceed(context, output);
                }
                Message::Error(fields) => {
                    self.failure.get_or_insert(sqlstate(fields));
                }
                Message::ParseComplete => self.prepared.parsed(),
                Message::CopyIn => {
                    output.extend_from_slice(COPY_REFUSAL);
                    if self.running.is_extended {
                        // The server ignores the Sync that it got while it waits for data.
                        output.extend_from_slice(SYNC);
                    }
                }
                Message::Columns(_) | Message::Row(_) | Message::Complete | Message::Other => {}
            }
        }
        self.reader = reader;
        Ok(())
    }

    fn answered(&mut self, block: u8, context: &mut Context) {
        let now_ns = clock::now_ns();
        self.state = State::Idle;
        self.free_ns = now_ns;
        if let Some(code) = self.failure.take() {
            if &code == NO_STATEMENT {
                self.prepared.missing(&self.running.name);
            }
            self.failed(Failure::Sqlstate(code), "it failed", context);
        } else {
            let running = &self.running;
            let since_ns = running.attempt.expected_ns();
            if context.recorder.success(now_ns, &running.attempt) {
                self.successes += 1;
                context
                    .counts
                    .done(running.number, now_ns - since_ns, running.failed_there);
                if block == b'I' && self.block != b'E' && !running.undoes {
                    context.counts.transaction();
                }
            }
        }
        self.block = block;
    }

    /// Counts a failure. A message of the server may quote values of the trace, so none is kept.
    fn failed(&mut self, failure: Failure, problem: &str, context: &mut Context) {
        let running = &self.running;
        let message = || format!("statement {} of the trace: {problem}", running.number);
        let now_ns = clock::now_ns();
        context
            .recorder
            .failure(now_ns, &running.attempt, failure, message);
        context
            .counts
            .failed(running.number, &failure.name(), running.failed_there);
        self.free_ns = now_ns.max(running.due_ns);
    }
}
