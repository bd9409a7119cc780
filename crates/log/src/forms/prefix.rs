//! What log_line_prefix puts before a message.
//!
//! Enters: the setting; lines. Leaves: the fields that are of use, and where the message begins.
//! Never: goes back on a choice: a text ends at the first place where what follows it in the setting
//! stands (the last one where a severity follows that), so a line takes linear time.

use std::ops::Range;

use crate::error::LogError;
use crate::stamp::{Stamps, epoch};

/// Of a name and its end; `%h` has 1025 bytes at most.
const LONGEST_NAME: usize = 1200;
const LONGEST_WORD: usize = 16;
/// What `%b` is of a process that runs statements.
const BACKENDS: [&[u8]; 2] = [b"client backend", b"parallel worker"];
const WORDS: [&[u8]; 14] = [
    b"LOG",
    b"ERROR",
    b"FATAL",
    b"PANIC",
    b"WARNING",
    b"NOTICE",
    b"INFO",
    b"DEBUG",
    b"DETAIL",
    b"HINT",
    b"STATEMENT",
    b"CONTEXT",
    b"QUERY",
    b"LOCATION",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Stamp,
    Epoch,
    Process,
    Session,
    User,
    Database,
    Application,
    Sqlstate,
    Backend,
    /// A text or number of no use here.
    Text,
}

#[derive(Debug)]
enum Part {
    Literal(Vec<u8>),
    Field(Kind),
}

/// A setting of log_line_prefix, read.
#[derive(Debug)]
pub(crate) struct Prefix {
    parts: Vec<Part>,
}

/// The fields of a line: where they lie in it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fields {
    pub(crate) time_us: i64,
    pub(crate) process: Range<usize>,
    pub(crate) session: Range<usize>,
    pub(crate) user: Range<usize>,
    pub(crate) database: Range<usize>,
    pub(crate) application: Range<usize>,
    pub(crate) sqlstate: Range<usize>,
    pub(crate) message: usize,
}

impl Prefix {
    /// Reads a setting; it must have a time and a session.
    pub(crate) fn new(setting: &str) -> Result<Self, LogError> {
        let mut parts = Vec::new();
        let mut literal = Vec::new();
        let mut bytes = setting.bytes().peekable();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                literal.push(byte);
                continue;
            }
            while bytes
                .next_if(|byte| byte.is_ascii_digit() || *byte == b'-')
                .is_some()
            {}
            let kind = match bytes.next() {
                Some(b'm' | b't') => Kind::Stamp,
                Some(b'n') => Kind::Epoch,
                Some(b'p') => Kind::Process,
                Some(b'c') => Kind::Session,
                Some(b'u') => Kind::User,
                Some(b'd') => Kind::Database,
                Some(b'a') => Kind::Application,
                Some(b'e') => Kind::Sqlstate,
                Some(b'b') => Kind::Backend,
                // Sessions only are read, so %q, where other processes stop, is nothing.
                Some(b'q') | None => continue,
                Some(b'%') => {
                    literal.push(b'%');
                    continue;
                }
                Some(_) => Kind::Text,
            };
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Field(kind));
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        let prefix = Self { parts };
        if !prefix.has(Kind::Stamp) && !prefix.has(Kind::Epoch) {
            return Err(LogError::NoTime);
        }
        if !prefix.has(Kind::Process) && !prefix.has(Kind::Session) {
            return Err(LogError::NoSession);
        }
        Ok(prefix)
    }

    fn has(&self, kind: Kind) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Field(found) if *found == kind))
    }

    /// The fields of a line that begins with the prefix.
    pub(crate) fn read(&self, line: &[u8], stamps: &mut Stamps) -> Option<Fields> {
        let mut fields = Fields::default();
        let mut at = 0;
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(text) => {
                    line.get(at..)?.starts_with(text).then_some(())?;
                    at += text.len();
                }
                Part::Field(Kind::Stamp) => {
                    let (time_us, length) = stamps.read(line.get(at..)?)?;
                    fields.time_us = time_us;
                    at += length;
                    let zone = line.get(at + 1..)?;
                    let in_zone = |byte: &&u8| {
                        byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'-' | b'_')
                    };
                    at +=
                        1 + self.zone_length(index, zone, zone.iter().take_while(in_zone).count());
                }
                Part::Field(Kind::Epoch) => {
                    let of_number = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
                    let length = line.get(at..)?.iter().take_while(of_number).count();
                    fields.time_us = epoch(&line[at..at + length])?;
                    at += length;
                }
                Part::Field(kind) => {
                    let rest = line.get(at..)?;
                    // A blank within a type of process is not the one that ends it.
                    let least = match kind {
                        Kind::Backend => words_of_backend(rest),
                        _ => 0,
                    };
                    let length = least + self.text_length(index, &rest[least..])?;
                    let text = trimmed(line, at..at + length);
                    at += length;
                    match kind {
                        Kind::Process => fields.process = number(line, text)?,
                        Kind::Session => fields.session = text,
                        Kind::User => fields.user = text,
                        Kind::Database => fields.database = text,
                        Kind::Application => fields.application = text,
                        Kind::Sqlstate => fields.sqlstate = text,
                        Kind::Stamp | Kind::Epoch | Kind::Backend | Kind::Text => {}
                    }
                }
            }
        }
        fields.message = at;
        Some(fields)
    }

    /// A literal that begins with `-` ends a zone, too, as in Azure's `%t-%c-`.
    fn zone_length(&self, index: usize, zone: &[u8], longest: usize) -> usize {
        match self.parts.get(index + 1) {
            Some(Part::Literal(next)) if zone.first().is_some_and(u8::is_ascii_alphabetic) => {
                memchr::memmem::find(&zone[..longest], next).unwrap_or(longest)
            }
            _ => longest,
        }
    }

    fn text_length(&self, index: usize, rest: &[u8]) -> Option<usize> {
        match self.parts.get(index + 1) {
            // Names may have what ends them; before the message the severity tells.
            Some(Part::Literal(next)) if index + 2 == self.parts.len() => {
                let rest = &rest[..rest.len().min(LONGEST_NAME)];
                memchr::memmem::find_iter(rest, next)
                    .find(|at| severity(&rest[at + next.len()..]).is_some())
            }
            Some(Part::Literal(next)) => memchr::memmem::find(rest, next),
            // Fields that nothing separates: numbers end where they are no numbers.
            _ => Some(
                rest.iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'.')
                    .count(),
            ),
        }
    }
}

/// The word before `:  ` where a message begins, and what follows.
pub(crate) fn severity(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memmem::find(&text[..text.len().min(LONGEST_WORD)], b":  ")?;
    let word = &text[..colon];
    let is_word = WORDS.iter().any(|known| word.starts_with(known));
    is_word.then_some((word, &text[colon + 3..]))
}

fn words_of_backend(rest: &[u8]) -> usize {
    let words = rest.trim_ascii_start();
    BACKENDS
        .iter()
        .find(|known| words.starts_with(known))
        .map_or(0, |known| rest.len() - words.len() + known.len())
}

fn trimmed(line: &[u8], range: Range<usize>) -> Range<usize> {
    let text = &line[range.clone()];
    let begin = range.start + text.len() - text.trim_ascii_start().len();
    begin..begin + text.trim_ascii().len()
}

fn number(line: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let text = &line[range.clone()];
    (!text.is_empty() && text.iter().all(u8::is_ascii_digit)).then_some(range)
}
