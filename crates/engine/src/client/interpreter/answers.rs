//! What the server answers to the statements of one client's script.
//!
//! Enters: messages of the server, already read. Leaves: variables with what results captured, and
//! whether all that was sent is answered. Never: sends a statement of the script.

use super::Interpreter;
use crate::messages::{COPY_REFUSAL, Malformed};
use crate::program::Program;
use crate::script::Fault;

impl Interpreter {
    /// The server has prepared a statement.
    pub fn parsed(&mut self) {
        if let Some(number) = self.outstanding.parsed()
            && let Some(prepared) = self.prepared.get_mut(number)
        {
            *prepared = true;
        }
    }

    /// Whether columns and rows of results are used.
    #[must_use]
    pub fn wants_rows(&self) -> bool {
        self.wants_rows
    }

    pub fn columns(&mut self, body: &[u8]) {
        self.results.columns(body);
    }

    pub fn row(&mut self, body: &[u8]) {
        self.results.row(body);
    }

    /// One result has ended.
    pub fn result_ended(&mut self, program: &Program) -> Result<(), Malformed> {
        self.outstanding.complete();
        if self.wants_rows
            && let Some(capture) = self.capture(program)
        {
            self.results
                .end(capture, &program.names, &mut self.variables)?;
        }
        Ok(())
    }

    /// Whether the server has answered all that was sent.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.outstanding.is_empty()
    }

    /// The server is ready; true once it has answered all that was sent. Only after a failure
    /// may it leave out a statement.
    pub fn ready(&mut self, has_failed: bool) -> Result<bool, Malformed> {
        // Statements of a pipeline are checked one by one.
        let has_ended = self.in_pipeline || self.outstanding.has_ended();
        if has_failed || has_ended {
            self.outstanding.ready(has_failed)
        } else {
            Err(Malformed("ReadyForQuery before the statement has ended"))
        }
    }

    /// Queries that no scenario has were sent, which the server will answer.
    pub fn expect(&mut self, queries: usize) {
        for _ in 0..queries {
            self.outstanding.sync();
        }
    }

    /// Refuses the data of a COPY FROM STDIN, so that the statement fails. If another statement
    /// follows in the pipeline, the server reads it as data and closes the session.
    pub fn refuse_copy(&mut self, is_extended: bool, output: &mut Vec<u8>) {
        if self.outstanding.has_more() {
            return;
        }
        output.extend_from_slice(COPY_REFUSAL);
        if is_extended && self.outstanding.drop_skipped_syncs() {
            self.sync(output);
        }
    }

    /// All that was sent has succeeded; the next `run` continues after it.
    pub fn answered(&mut self, program: &Program) -> Result<Result<(), Fault>, Malformed> {
        if std::mem::take(&mut self.wants_rows)
            && let Some(capture) = self.capture(program)
        {
            let names = &program.names;
            if let Err(fault) = self.results.finish(capture, names, &mut self.variables)? {
                return Ok(Err(fault));
            }
        }
        self.in_pipeline = false;
        self.operation += 1;
        Ok(Ok(()))
    }
}
