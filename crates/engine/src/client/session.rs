//! Replaces the session of a client that was lost or closed.
//!
//! Enters: notice that a session was lost, or that another is open. Leaves: a request for a
//! session, a pause before the next request, the time of the outage. Never: opens a session,
//! which would block.

use pgassay_session::{CancelKey, Stream, clock};

use super::{Client, State, WorkerContext};
use crate::messages::Reader;
use crate::record::Failure;
use crate::sessions::reopen::Answer;

/// The pauses between attempts to open a lost session.
const FIRST_PAUSE_NS: i64 = 10_000_000;
const LONGEST_PAUSE_NS: i64 = 1_000_000_000;

impl Client {
    /// Marks the session as lost and requests another after a pause.
    pub(super) fn wait_for_session(&mut self, context: &mut WorkerContext<'_>) {
        let now_ns = clock::now_ns();
        if self.idle.lost_ns.is_none() {
            context.recorder.count_lost_connection();
            self.idle.lost_ns = Some(now_ns);
            self.idle.pause_ns = 0;
        }
        self.idle.pause_ns = (2 * self.idle.pause_ns).clamp(FIRST_PAUSE_NS, LONGEST_PAUSE_NS);
        self.state = State::Lost;
        self.is_open = false;
        self.idle.until_ns = now_ns + self.idle.pause_ns;
        self.wake_at(self.idle.until_ns, context);
    }

    pub(super) fn schedule_reopen(&mut self, now_ns: i64, context: &mut WorkerContext<'_>) {
        if now_ns < self.idle.until_ns {
            self.wake_at(self.idle.until_ns, context);
        } else {
            self.state = State::Opening;
            context.pace.wanted.push(self.place);
        }
    }

    /// Handles the end of an attempt to open a session; returns its stream.
    pub fn opened(&mut self, answer: Answer, context: &mut WorkerContext<'_>) -> Option<Stream> {
        let now_ns = clock::now_ns();
        match answer.session {
            Ok(opened) => {
                context.board.set_backend(self.slot, opened.backend_pid);
                let scenario = self.interpreter.scenario();
                context
                    .recorder
                    .connected(scenario, answer.took_ns, answer.cpu_ns);
                if let Some(lost_ns) = self.idle.lost_ns.take() {
                    context.recorder.outage(lost_ns, now_ns);
                }
                self.settle_in(opened.key, opened.prepared);
                Some(opened.stream)
            }
            Err(problem) => {
                let message = || format!("no new connection: {problem}");
                let scenario = self.interpreter.scenario();
                context
                    .recorder
                    .note_error(now_ns, scenario, Failure::Connection, message);
                self.wait_for_session(context);
                None
            }
        }
    }

    /// When the session was lost, if no other is open yet.
    #[must_use]
    pub fn lost_ns(&self) -> Option<i64> {
        self.idle.lost_ns
    }

    fn settle_in(&mut self, key: CancelKey, prepared: Vec<bool>) {
        self.interpreter.move_session(prepared);
        self.key = key;
        self.reader = Reader::default();
        self.failure = None;
        self.block = b'I';
        // The new session has no variant's settings.
        self.variant = None;
        self.idle.until_ns = i64::MIN;
        self.is_open = true;
        self.state = State::Idle;
    }
}
