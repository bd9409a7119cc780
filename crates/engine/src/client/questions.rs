//! What the server was asked and has not answered yet.
//!
//! Enters: word of what is sent, word of answers. Leaves: whether all is answered, which
//! statement was prepared. Never: sends, or knows what a statement says.

use std::collections::VecDeque;

#[derive(Debug, Default)]
pub struct Questions {
    /// Messages that the server answers with ReadyForQuery: sent so far, and answered.
    sent: u64,
    seen: u64,
    /// Statements that the server was told to prepare, with the sync that this came before.
    parses: VecDeque<(u64, usize)>,
    /// Statements sent in a pipeline: the sync that each came before.
    piped: VecDeque<u64>,
}

impl Questions {
    /// Of what was asked in an old session nobody will hear.
    pub fn forget(&mut self) {
        self.seen = self.sent;
        self.parses.clear();
        self.piped.clear();
    }

    /// A Sync or a Query was sent.
    pub fn sync(&mut self) {
        self.sent += 1;
    }

    /// The server is told to prepare the statement of this number.
    pub fn parse(&mut self, number: usize) {
        self.parses.push_back((self.sent, number));
    }

    /// A statement is sent without a Sync.
    pub fn pipe(&mut self) {
        self.piped.push_back(self.sent);
    }

    /// The server has prepared the statement of this number.
    pub fn parsed(&mut self) -> Option<usize> {
        self.parses.pop_front().map(|(_, number)| number)
    }

    /// A statement has come to its end.
    pub fn complete(&mut self) {
        self.piped.pop_front();
    }

    /// The server is ready; true once it has answered all that was sent.
    pub fn ready(&mut self) -> bool {
        // More answers than questions would be the server's mistake, which must not do harm.
        self.seen = (self.seen + 1).min(self.sent);
        // What an error made the server skip is neither prepared nor run.
        while self
            .parses
            .front()
            .is_some_and(|(sync, _)| *sync < self.seen)
        {
            self.parses.pop_front();
        }
        while self.piped.front().is_some_and(|sync| *sync < self.seen) {
            self.piped.pop_front();
        }
        self.seen == self.sent
    }

    /// Whether something was sent behind the statement that the server runs.
    #[must_use]
    pub fn are_more(&self) -> bool {
        self.piped.len() > 1
    }

    /// The server has passed over every Sync on its way; whether there was one.
    pub fn passed_over(&mut self) -> bool {
        let is_any = self.seen < self.sent;
        self.sent = self.seen;
        is_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_error_skips_is_neither_prepared_nor_run() {
        let mut questions = Questions::default();
        for number in [7, 8] {
            questions.parse(number);
            questions.pipe();
        }
        questions.sync();
        questions.parse(9);
        questions.pipe();
        questions.sync();
        assert!(questions.are_more());
        assert_eq!(questions.parsed(), Some(7));
        // The first statement fails: the second is skipped up to the sync.
        assert!(!questions.ready());
        assert!(!questions.are_more());
        assert_eq!(questions.parsed(), Some(9));
        questions.complete();
        assert!(questions.ready());
    }

    #[test]
    fn syncs_that_were_passed_over_are_not_waited_for() {
        let mut questions = Questions::default();
        questions.pipe();
        assert!(!questions.passed_over());
        questions.sync();
        questions.sync();
        assert!(questions.passed_over());
        questions.sync();
        assert!(questions.ready());
        assert!(!questions.are_more());
    }
}
