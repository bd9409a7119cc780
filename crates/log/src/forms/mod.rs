//! The forms of a log: csvlog, jsonlog, and stderr under a prefix.
//!
//! Enters: bytes as they are read. Leaves: entries, each as soon as it is whole. Never: lets a torn
//! entry swallow the whole ones after it, or holds more than the longest entry.

mod csv;
mod json;
mod prefix;
mod stderr;

pub(crate) use csv::CsvForm;
pub(crate) use json::JsonForm;
pub(crate) use prefix::Prefix;
pub(crate) use stderr::StderrForm;

use crate::entry::Entry;

/// Of one entry; longer ones are passed over.
pub(crate) const LONGEST: usize = 64 << 20;

/// A form of log with what it has not read to the end yet.
pub(crate) enum Form {
    Csv(CsvForm),
    Json(JsonForm),
    Stderr(Box<StderrForm>),
}

/// What a form has to say of a piece at the start of its bytes.
pub(crate) enum Step {
    /// So many bytes are done with.
    Done(usize),
    /// So many bytes made no sense.
    Unread(usize),
    /// More bytes are needed.
    More,
}

impl Form {
    fn step<F: FnMut(&Entry<'_>)>(&mut self, bytes: &[u8], last: bool, found: &mut F) -> Step {
        match self {
            Self::Csv(form) => form.step(bytes, last, found),
            Self::Json(form) => form.step(bytes, last, found),
            Self::Stderr(form) => form.step(bytes, last, found),
        }
    }

    /// What is held back for its next line is whole at the end of a file.
    fn finish<F: FnMut(&Entry<'_>)>(&mut self, found: &mut F) {
        if let Self::Stderr(form) = self {
            form.finish(found);
        }
    }
}

/// Cuts bytes into entries of one form.
pub(crate) struct Cutter {
    pub(crate) form: Form,
    rest: Vec<u8>,
    /// Pieces so far that made no sense.
    pub(crate) unread: u64,
}

impl Cutter {
    pub(crate) fn new(form: Form) -> Self {
        Self {
            form,
            rest: Vec::new(),
            unread: 0,
        }
    }

    /// Reads on; `last` at the end of a file.
    pub(crate) fn feed<F: FnMut(&Entry<'_>)>(&mut self, data: &[u8], last: bool, mut found: F) {
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.extend_from_slice(data);
        let mut at = 0;
        while at < bytes.len() {
            match self.form.step(&bytes[at..], last, &mut found) {
                Step::Done(length) => at += length,
                Step::Unread(length) => {
                    self.unread += 1;
                    at += length;
                }
                Step::More if last || bytes.len() - at > LONGEST => {
                    self.unread += 1;
                    at = bytes.len();
                }
                Step::More => break,
            }
        }
        if last {
            self.form.finish(&mut found);
            return;
        }
        bytes.drain(..at);
        self.rest = bytes;
    }
}

/// The length of the first line with its end; `None` if it has none yet.
pub(crate) fn line_length(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes).map(|at| at + 1)
}

/// A line without what ends it.
pub(crate) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
