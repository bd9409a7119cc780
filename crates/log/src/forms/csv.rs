//! csvlog, whose records may span lines.
//!
//! Enters: bytes from the start of a record. Leaves: its entry. Never: takes a record for whole that
//! has not the columns of PostgreSQL 13 or later, or goes on within a torn one: it looks for the next
//! line that begins with a time.

use std::borrow::Cow;

use crate::entry::{Entry, Severity};
use crate::forms::{Step, line_length};
use crate::stamp::{Stamps, begins_with_stamp};

// The manual: "Using CSV-Format Log Output".
const USER: usize = 1;
const DATABASE: usize = 2;
const PROCESS: usize = 3;
const SESSION: usize = 5;
const SEVERITY: usize = 11;
const SQLSTATE: usize = 12;
const MESSAGE: usize = 13;
const DETAIL: usize = 14;
const STATEMENT: usize = 19;
const APPLICATION: usize = 22;
const COLUMNS: std::ops::RangeInclusive<usize> = 23..=32;

#[derive(Clone, Copy)]
struct Field {
    begin: usize,
    end: usize,
    doubled: bool,
}

enum Row {
    Whole(usize),
    Torn,
    More,
}

#[derive(Default)]
pub(crate) struct CsvForm {
    stamps: Stamps,
    fields: Vec<Field>,
}

impl CsvForm {
    pub(crate) fn step<F: FnMut(&Entry<'_>)>(
        &mut self,
        bytes: &[u8],
        last: bool,
        found: &mut F,
    ) -> Step {
        let length = match self.row(bytes) {
            Row::Whole(length) => length,
            Row::More if !last => return Step::More,
            Row::More | Row::Torn => return Step::Unread(next_record(bytes)),
        };
        let Some((time_us, _)) = self.stamps.read(bytes) else {
            return Step::Unread(length);
        };
        if self.fields[USER].begin == self.fields[USER].end
            && self.fields[DATABASE].begin == self.fields[DATABASE].end
        {
            return Step::Done(length); // of a process of the server's own
        }
        let text = |column: usize| self.text(bytes, column);
        found(&Entry {
            time_us,
            process: text(PROCESS),
            session: text(SESSION),
            user: text(USER),
            database: text(DATABASE),
            application: text(APPLICATION),
            severity: Severity::of(&text(SEVERITY)),
            sqlstate: text(SQLSTATE),
            message: text(MESSAGE),
            detail: text(DETAIL),
            statement: text(STATEMENT),
        });
        Step::Done(length)
    }

    fn text<'a>(&self, bytes: &'a [u8], column: usize) -> Cow<'a, [u8]> {
        let field = self.fields[column];
        let text = &bytes[field.begin..field.end];
        if !field.doubled {
            return Cow::Borrowed(text);
        }
        let mut single = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'"', rest) {
            single.extend_from_slice(&rest[..=at]);
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        single.extend_from_slice(rest);
        Cow::Owned(single)
    }

    /// Finds the columns of the record at the start of `bytes`.
    fn row(&mut self, bytes: &[u8]) -> Row {
        self.fields.clear();
        if bytes.len() < 20 {
            return Row::More;
        }
        if !begins_with_stamp(bytes) {
            return Row::Torn;
        }
        let mut at = 0;
        loop {
            let mut doubled = false;
            let (begin, end);
            if bytes.get(at) == Some(&b'"') {
                begin = at + 1;
                at = begin;
                loop {
                    let Some(quote) = memchr::memchr(b'"', &bytes[at..]) else {
                        return Row::More;
                    };
                    at += quote + 1;
                    match bytes.get(at) {
                        None => return Row::More,
                        Some(b'"') => doubled = true,
                        Some(_) => break,
                    }
                    at += 1;
                }
                end = at - 1;
            } else {
                begin = at;
                let Some(length) = memchr::memchr2(b',', b'\n', &bytes[at..]) else {
                    return Row::More;
                };
                at += length;
                end = at;
            }
            if self.fields.len() > *COLUMNS.end() {
                return Row::Torn;
            }
            self.fields.push(Field {
                begin,
                end,
                doubled,
            });
            match bytes[at] {
                b',' => at += 1,
                b'\n' => break,
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => {
                    at += 1;
                    break;
                }
                b'\r' if bytes.get(at + 1).is_none() => return Row::More,
                _ => return Row::Torn,
            }
        }
        if COLUMNS.contains(&self.fields.len()) {
            Row::Whole(at + 1)
        } else {
            Row::Torn
        }
    }
}

/// The length up to the next line that begins as a record does.
fn next_record(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(length) = line_length(&bytes[at..]) {
        at += length;
        if begins_with_stamp(&bytes[at..]) {
            return at;
        }
    }
    if at == 0 { bytes.len() } else { at }
}
