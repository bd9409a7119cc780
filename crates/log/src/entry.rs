//! One entry of a log, as one report of the server wrote it.
//!
//! Enters: nothing. Leaves: [`Entry`], which the forms of logs fill. Never: owns a text: an entry
//! lasts while it is looked at.

use std::borrow::Cow;

/// The severities that the reader treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    Log,
    /// ERROR: the statement failed.
    Error,
    /// FATAL and PANIC: the session ended with it.
    Fatal,
    /// All else.
    Other,
}

impl Severity {
    pub(crate) fn of(word: &[u8]) -> Self {
        match word {
            b"LOG" => Self::Log,
            b"ERROR" => Self::Error,
            b"FATAL" | b"PANIC" => Self::Fatal,
            _ => Self::Other,
        }
    }
}

/// An entry of a process that serves a session; texts are empty where the log has none.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) time_us: i64,
    /// The number of its process, as text: a session's until another session has it.
    pub(crate) process: Cow<'a, [u8]>,
    /// `%c`, else that number.
    pub(crate) session: Cow<'a, [u8]>,
    pub(crate) user: Cow<'a, [u8]>,
    pub(crate) database: Cow<'a, [u8]>,
    pub(crate) application: Cow<'a, [u8]>,
    pub(crate) severity: Severity,
    pub(crate) sqlstate: Cow<'a, [u8]>,
    pub(crate) message: Cow<'a, [u8]>,
    pub(crate) detail: Cow<'a, [u8]>,
    pub(crate) statement: Cow<'a, [u8]>,
}
