//! The session of a client, from one to the next.
//!
//! Enters: word that a session was lost, or that another is open. Leaves: a wish for a session,
//! a pause before the next wish, the time of the outage. Never: opens one, which would block.

use pgassay_session::{CancelKey, Stream, clock};

use super::{Bench, Client, State};
use crate::messages::Reader;
use crate::record::Failure;
use crate::reopen::Answer;

/// The pauses between attempts to open a lost session.
const FIRST_PAUSE_NS: i64 = 10_000_000;
const LONGEST_PAUSE_NS: i64 = 1_000_000_000;

impl Client {
    /// The session is lost while nothing is known of another; tries again after a pause.
    pub(super) fn wait_for_session(&mut self, bench: &mut Bench<'_>) {
        let now_ns = clock::now_ns();
        if self.rest.lost_ns.is_none() {
            bench.recorder.lose_connection();
            self.rest.lost_ns = Some(now_ns);
            self.rest.pause_ns = 0;
        }
        self.rest.pause_ns = (2 * self.rest.pause_ns).clamp(FIRST_PAUSE_NS, LONGEST_PAUSE_NS);
        self.state = State::Lost;
        self.is_open = false;
        self.rest.until_ns = now_ns + self.rest.pause_ns;
        self.wake_at(self.rest.until_ns, bench);
    }

    pub(super) fn seek(&mut self, now_ns: i64, bench: &mut Bench<'_>) {
        if now_ns < self.rest.until_ns {
            self.wake_at(self.rest.until_ns, bench);
        } else {
            self.state = State::Opening;
            bench.pace.wanted.push(self.place);
        }
    }

    /// An attempt to open a session has come to its end; the stream is the caller's.
    pub fn opened(&mut self, answer: Answer, bench: &mut Bench<'_>) -> Option<Stream> {
        let now_ns = clock::now_ns();
        match answer.session {
            Ok(opened) => {
                bench.board.seat(self.number, opened.backend_pid);
                let scenario = self.interpreter.scenario();
                bench
                    .recorder
                    .connected(scenario, answer.took_ns, answer.cpu_ns);
                if let Some(lost_ns) = self.rest.lost_ns.take() {
                    bench.recorder.outage(lost_ns, now_ns);
                }
                self.settle_in(opened.key, opened.prepared);
                Some(opened.stream)
            }
            Err(problem) => {
                let message = || format!("no new connection: {problem}");
                let scenario = self.interpreter.scenario();
                bench
                    .recorder
                    .note_error(now_ns, scenario, Failure::Connection, message);
                self.wait_for_session(bench);
                None
            }
        }
    }

    /// When the session was lost, if it still is.
    #[must_use]
    pub fn lost_ns(&self) -> Option<i64> {
        self.rest.lost_ns
    }

    fn settle_in(&mut self, key: CancelKey, prepared: Vec<bool>) {
        self.interpreter.move_session(prepared);
        self.key = key;
        self.reader = Reader::default();
        self.failure = None;
        self.block = b'I';
        // The new session has none of a variant's settings.
        self.variant = None;
        self.rest.until_ns = i64::MIN;
        self.is_open = true;
        self.state = State::Idle;
    }
}
