//! One statement that a session sent, and how the values of its parameters are held.
//!
//! Enters: what entries of a log say. Leaves: [`Call`], and rows of values as bytes. Never: looks at
//! a template.

use crate::lexer::{Constant, Tag, undouble};
use crate::message::{Given, parameters};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Protocol {
    Simple = 1,
    Extended = 2,
    Prepared = 3,
}

/// A statement with its times at the source.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) start_us: i64,
    pub(crate) end_us: i64,
    /// `None` where the log has no duration.
    pub(crate) duration_us: Option<i64>,
    /// `None` of a text that has none ([`crate::templates`]).
    pub(crate) template: Option<u32>,
    pub(crate) protocol: Protocol,
    /// Its SQLSTATE; five blanks where the log has none.
    pub(crate) failed: Option<[u8; 5]>,
    /// The values in order, see [`Values`].
    pub(crate) values: Values,
    /// As it was sent, where a trace is made.
    pub(crate) text: Vec<u8>,
    pub(crate) name: Vec<u8>,
}

/// Values one after another: a tag, the length in four bytes, the text.
#[derive(Debug, Default, Clone)]
pub(crate) struct Values {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: usize,
    /// One ends as those do that log_parameter_max_length cut.
    pub(crate) cut: bool,
}

impl Values {
    pub(crate) fn push(&mut self, tag: Tag, text: &[u8]) {
        self.push_raw(tag as u8, text);
    }

    /// A value that [`each_value`] read.
    pub(crate) fn push_raw(&mut self, tag: u8, text: &[u8]) {
        let length = u32::try_from(text.len()).unwrap_or(0);
        self.bytes.push(tag);
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(text);
        self.count += 1;
    }

    /// Those of a `DETAIL: Parameters: …`.
    pub(crate) fn add_logged(&mut self, detail: &[u8]) {
        let mut single = Vec::new();
        parameters(detail, |given| match given {
            Given::Null => self.push(Tag::Null, b""),
            Given::Text(text) => {
                self.cut |= text.ends_with(b"...");
                single.clear();
                undouble(text, &mut single);
                self.push(Tag::Text, &single);
            }
        });
    }

    pub(crate) fn add_constants(&mut self, constants: &[Constant], values: &[u8]) {
        for constant in constants {
            self.push(constant.tag, &values[constant.begin..constant.end]);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        each_value(&self.bytes)
    }
}

/// Reads what [`Values::push`] wrote.
pub(crate) fn each_value(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (head, after) = rest.split_first_chunk::<5>()?;
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let text = after.get(..length)?;
        rest = &after[length..];
        Some((head[0], text))
    })
}
