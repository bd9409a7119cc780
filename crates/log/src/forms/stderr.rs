//! stderr, whose entries begin with one prefix and go on in lines with a tab.
//!
//! Enters: bytes from the start of a line. Leaves: an entry when the next one begins. Never: takes a
//! line for an entry's by its words alone: it must begin with the prefix, or go on with a tab.

use std::borrow::Cow;

use crate::entry::{Entry, Severity};
use crate::forms::prefix::{Fields, Prefix, severity};
use crate::forms::{Step, line_length, without_end};
use crate::stamp::Stamps;

const FIRST: [&[u8]; 8] = [
    b"LOG", b"ERROR", b"FATAL", b"PANIC", b"WARNING", b"NOTICE", b"INFO", b"DEBUG",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Message,
    Detail,
    Statement,
    Other,
}

pub(crate) struct StderrForm {
    prefix: Prefix,
    stamps: Stamps,
    head: Vec<u8>,
    fields: Option<Fields>,
    severity: Severity,
    part: Part,
    message: Vec<u8>,
    detail: Vec<u8>,
    statement: Vec<u8>,
}

impl StderrForm {
    pub(crate) fn new(prefix: Prefix) -> Self {
        Self {
            prefix,
            stamps: Stamps::default(),
            head: Vec::new(),
            fields: None,
            severity: Severity::Other,
            part: Part::Other,
            message: Vec::new(),
            detail: Vec::new(),
            statement: Vec::new(),
        }
    }

    pub(crate) fn step<F: FnMut(&Entry<'_>)>(
        &mut self,
        bytes: &[u8],
        _last: bool,
        found: &mut F,
    ) -> Step {
        let Some(length) = line_length(bytes) else {
            return Step::More;
        };
        let line = without_end(&bytes[..length]);
        if let Some(further) = line.strip_prefix(b"\t") {
            if self.fields.is_none() {
                return Step::Unread(length);
            }
            let text = match self.part {
                Part::Message => &mut self.message,
                Part::Detail => &mut self.detail,
                Part::Statement => &mut self.statement,
                Part::Other => return Step::Done(length),
            };
            text.push(b'\n');
            text.extend_from_slice(further);
            return Step::Done(length);
        }
        let read = self.prefix.read(line, &mut self.stamps);
        let split = read.and_then(|fields| {
            let (word, text) = severity(&line[fields.message..])?;
            Some((fields, word, text))
        });
        let Some((fields, word, text)) = split else {
            self.part = Part::Other;
            let own = crate::stamp::begins_with_stamp(line);
            return if own || line.is_empty() {
                Step::Done(length) // of a process of the server's own
            } else {
                Step::Unread(length)
            };
        };
        if !FIRST.iter().any(|first| word.starts_with(first)) {
            let (part, into) = match word {
                b"DETAIL" => (Part::Detail, &mut self.detail),
                b"STATEMENT" => (Part::Statement, &mut self.statement),
                _ => {
                    self.part = Part::Other;
                    return Step::Done(length);
                }
            };
            self.part = part;
            into.clear();
            into.extend_from_slice(text);
            return Step::Done(length);
        }
        self.finish(found);
        self.severity = Severity::of(word);
        self.head.clear();
        self.head.extend_from_slice(&line[..fields.message]);
        self.fields = Some(fields);
        self.part = Part::Message;
        self.message.clear();
        self.message.extend_from_slice(without_sqlstate(text));
        self.detail.clear();
        self.statement.clear();
        Step::Done(length)
    }

    /// Gives the entry that is held back.
    pub(crate) fn finish<F: FnMut(&Entry<'_>)>(&mut self, found: &mut F) {
        let Some(fields) = self.fields.take() else {
            return;
        };
        let text = |range: &std::ops::Range<usize>| Cow::Borrowed(&self.head[range.clone()]);
        let process = if fields.process.is_empty() {
            &fields.session
        } else {
            &fields.process
        };
        let session = if fields.session.is_empty() {
            &fields.process
        } else {
            &fields.session
        };
        found(&Entry {
            time_us: fields.time_us,
            process: text(process),
            session: text(session),
            user: text(&fields.user),
            database: text(&fields.database),
            application: text(&fields.application),
            severity: self.severity,
            sqlstate: text(&fields.sqlstate),
            message: Cow::Borrowed(&self.message),
            detail: Cow::Borrowed(&self.detail),
            statement: Cow::Borrowed(&self.statement),
        });
    }
}

/// A message without what log_error_verbosity = verbose puts before it.
fn without_sqlstate(text: &[u8]) -> &[u8] {
    let is_code = |code: &[u8]| {
        code.iter()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    };
    match text.get(..7) {
        Some(head) if head.ends_with(b": ") && is_code(&head[..5]) => &text[7..],
        _ => text,
    }
}
