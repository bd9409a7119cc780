//! Every statement of a log in order, as columns.
//!
//! Enters: statements, and sessions that come and go. Leaves: [`Rows`], as often as they are taken.
//! Never: keeps what was taken.

use std::collections::HashMap;

use crate::call::{Call, Protocol};

/// Kinds of rows beside those of [`Protocol`].
const CONNECT: u8 = 0;
const DISCONNECT: u8 = 4;
const NONE: i64 = -1;

/// Texts as Arrow has them: where each ends, and all in a row.
#[derive(Debug)]
pub struct Texts {
    pub offsets: Vec<i64>,
    pub bytes: Vec<u8>,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            bytes: Vec::new(),
        }
    }
}

impl Texts {
    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.offsets
            .push(i64::try_from(self.bytes.len()).unwrap_or(i64::MAX));
    }
}

/// Equally long columns; -1 stands for none.
#[derive(Debug, Default)]
pub struct Rows {
    pub session: Vec<i64>,
    pub at_us: Vec<i64>,
    pub kind: Vec<u8>,
    pub statement: Texts,
    /// How many values each row has; -1 without parameters.
    pub counts: Vec<i64>,
    pub values: Texts,
    /// 0 for NULL, else 1.
    pub values_known: Vec<u8>,
    pub duration_us: Vec<i64>,
    /// Numbers of [`Trace::names`].
    pub name: Vec<i64>,
    pub sqlstate: Vec<i64>,
    pub database: Vec<i64>,
    pub user: Vec<i64>,
    pub application: Vec<i64>,
}

/// Whose statements they are, as numbers of names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whose {
    pub(crate) database: i64,
    pub(crate) user: i64,
    pub(crate) application: i64,
}

#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) rows: Rows,
    pub(crate) left_out: u64,
}

impl Trace {
    pub(crate) fn connect(&mut self, session: i64, at_us: i64, whose: Whose) {
        self.row(session, at_us, CONNECT, whose);
        self.rest(b"", NONE, NONE, NONE);
    }

    pub(crate) fn disconnect(&mut self, session: i64, at_us: i64, whose: Whose) {
        self.row(session, at_us, DISCONNECT, whose);
        self.rest(b"", NONE, NONE, NONE);
    }

    pub(crate) fn call(&mut self, session: i64, call: &Call, whose: Whose, names: &mut Names) {
        if std::str::from_utf8(&call.text).is_err() || cannot_be_sent(&call.text) {
            self.left_out += 1;
            return;
        }
        self.row(session, call.start_us, call.protocol as u8, whose);
        let name = if call.name.is_empty() {
            NONE
        } else {
            names.number(&call.name)
        };
        let sqlstate = call.failed.map_or(NONE, |code| names.number(&code));
        self.rest(&call.text, call.duration_us.unwrap_or(NONE), name, sqlstate);
        if call.protocol != Protocol::Simple && call.values.count > 0 {
            if let Some(count) = self.rows.counts.last_mut() {
                *count = i64::try_from(call.values.count).unwrap_or(NONE);
            }
            for (tag, text) in call.values.iter() {
                self.rows
                    .values
                    .push(String::from_utf8_lossy(text).as_bytes());
                self.rows.values_known.push(u8::from(tag != 0));
            }
        }
    }

    fn row(&mut self, session: i64, at_us: i64, kind: u8, whose: Whose) {
        let rows = &mut self.rows;
        rows.session.push(session);
        rows.at_us.push(at_us);
        rows.kind.push(kind);
        rows.database.push(whose.database);
        rows.user.push(whose.user);
        rows.application.push(whose.application);
    }

    fn rest(&mut self, statement: &[u8], duration_us: i64, name: i64, sqlstate: i64) {
        let rows = &mut self.rows;
        rows.statement.push(statement);
        rows.counts.push(NONE);
        rows.duration_us.push(duration_us);
        rows.name.push(name);
        rows.sqlstate.push(sqlstate);
    }
}

/// A COPY whose data are not in the log.
fn cannot_be_sent(text: &[u8]) -> bool {
    let has = |word: &[u8]| {
        text.windows(word.len())
            .any(|found| found.eq_ignore_ascii_case(word))
    };
    let head = text.trim_ascii_start();
    head.get(..4)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"copy"))
        && (has(b"stdin") || has(b"stdout"))
}

/// Short texts that come again and again, by number.
#[derive(Default)]
pub(crate) struct Names {
    numbers: HashMap<Box<[u8]>, i64>,
    pub(crate) all: Vec<String>,
}

const MOST_NAMES: usize = 1_000_000;

impl Names {
    /// -1 where there are too many.
    pub(crate) fn number(&mut self, name: &[u8]) -> i64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if self.all.len() >= MOST_NAMES {
            return NONE;
        }
        let number = i64::try_from(self.all.len()).unwrap_or(NONE);
        self.all.push(String::from_utf8_lossy(name).into_owned());
        self.numbers.insert(name.into(), number);
        number
    }
}
