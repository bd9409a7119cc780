//! Requests that the server has not answered yet.
//!
//! Enters: notices of requests sent and of answers. Leaves: whether all is answered, which
//! statement was prepared. Never: sends, or reads a statement's text.

use std::collections::VecDeque;

use crate::messages::Malformed;

#[derive(Debug, Default)]
pub struct Outstanding {
    /// Messages that the server answers with ReadyForQuery: sent so far, and answered.
    sent: u64,
    answered: u64,
    /// Numbers of statements being prepared, each after the number of Syncs sent before it.
    parses: VecDeque<(u64, usize)>,
    /// For each statement sent in a pipeline, the number of Syncs sent before it.
    piped: VecDeque<u64>,
    /// Whether a statement has ended since the last request was sent.
    has_ended: bool,
}

impl Outstanding {
    /// Forgets the requests of a session that was lost.
    pub fn reset(&mut self) {
        self.answered = self.sent;
        self.parses.clear();
        self.piped.clear();
    }

    /// A Sync or a Query was sent.
    pub fn sync(&mut self) {
        self.sent += 1;
        self.has_ended = false;
    }

    /// Whether the server has answered all that was sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.answered == self.sent && self.piped.is_empty()
    }

    /// A Parse of the statement with this number was sent.
    pub fn parse(&mut self, number: usize) {
        self.parses.push_back((self.sent, number));
    }

    /// A statement was sent without a Sync.
    pub fn pipe(&mut self) {
        self.piped.push_back(self.sent);
    }

    /// The number of the statement that the server has just prepared.
    pub fn parsed(&mut self) -> Option<usize> {
        self.parses.pop_front().map(|(_, number)| number)
    }

    /// A statement has ended.
    pub fn complete(&mut self) {
        self.has_ended = true;
        self.piped.pop_front();
    }

    /// Whether a statement has ended since the last request was sent.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The server is ready; true once it has answered all that was sent.
    pub fn ready(&mut self, has_failed: bool) -> Result<bool, Malformed> {
        self.answered += 1;
        // Statements that the server skipped after an error are neither prepared nor run.
        while self
            .parses
            .front()
            .is_some_and(|(sync, _)| *sync < self.answered)
        {
            self.parses.pop_front();
        }
        while self.piped.front().is_some_and(|sync| *sync < self.answered) {
            if !has_failed {
                return Err(Malformed("ReadyForQuery before a statement has ended"));
            }
            self.piped.pop_front();
        }
        Ok(self.answered == self.sent)
    }

    /// Whether more statements were sent after the one that the server runs.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.piped.len() > 1
    }

    /// Stops waiting for Syncs that the server has skipped; returns whether there were any.
    pub fn drop_skipped_syncs(&mut self) -> bool {
        let is_any = self.answered < self.sent;
        self.sent = self.answered;
        is_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_error_skips_is_neither_prepared_nor_run() {
        let mut outstanding = Outstanding::default();
        for number in [7, 8] {
            outstanding.parse(number);
            outstanding.pipe();
        }
        outstanding.sync();
        outstanding.parse(9);
        outstanding.pipe();
        outstanding.sync();
        assert!(outstanding.has_more());
        assert_eq!(outstanding.parsed(), Some(7));
        // The first statement fails: the second is skipped up to the sync.
        assert_eq!(outstanding.ready(true), Ok(false));
        assert!(!outstanding.has_more());
        assert_eq!(outstanding.parsed(), Some(9));
        outstanding.complete();
        assert_eq!(outstanding.ready(false), Ok(true));
    }

    #[test]
    fn a_statement_of_a_pipeline_must_end_before_the_server_is_ready() {
        let mut outstanding = Outstanding::default();
        outstanding.pipe();
        outstanding.pipe();
        outstanding.sync();
        outstanding.complete();
        assert!(outstanding.ready(false).is_err());
        outstanding.reset();
        assert!(outstanding.is_empty());
    }

    #[test]
    fn syncs_that_were_passed_over_are_not_waited_for() {
        let mut outstanding = Outstanding::default();
        outstanding.pipe();
        assert!(!outstanding.drop_skipped_syncs());
        outstanding.sync();
        outstanding.sync();
        assert!(outstanding.drop_skipped_syncs());
        outstanding.sync();
        assert_eq!(outstanding.ready(true), Ok(true));
        assert!(!outstanding.has_more());
    }
}
