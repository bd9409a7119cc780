//! Each distinct text of a statement once.
//!
//! Enters: scanned texts. Leaves: a number for each template, what kind of statement it is, and its
//! text with `$n`. Never: holds more than [`MOST`] templates or [`MOST_BYTES`] of them; what comes
//! after that has no number.

use std::collections::HashMap;
use std::ops::Range;

use crate::lexer::{MARK, Scanned};

const MOST: usize = 100_000;
const MOST_BYTES: usize = 256 << 20;

/// What a workload can do with a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Begin,
    Commit,
    Rollback,
    /// Reads or writes rows, and takes parameters.
    Data,
    /// Of a transaction, without a constant: SAVEPOINT, SET TRANSACTION, LOCK.
    Kept,
    /// No scenario has it, for this reason.
    Lost(&'static str),
}

#[derive(Debug)]
pub(crate) struct Template {
    /// With `$n` for each parameter, those of the source first.
    pub(crate) text: String,
    /// `$n` of the source.
    pub(crate) parameters: usize,
    /// Constants that became parameters.
    pub(crate) constants: usize,
    pub(crate) verb: Verb,
    /// The single statements of a text with several, each with its constants; empty for one.
    pub(crate) pieces: Vec<(u32, Range<usize>)>,
}

#[derive(Default)]
pub(crate) struct Templates {
    numbers: HashMap<Box<[u8]>, u32>,
    all: Vec<Template>,
    bytes: usize,
}

impl Templates {
    pub(crate) fn get(&self, number: u32) -> &Template {
        &self.all[number as usize]
    }

    pub(crate) fn all(&self) -> &[Template] {
        &self.all
    }

    /// The number of a scanned text's template; `None` where there are too many, or it is not UTF-8.
    pub(crate) fn number(&mut self, scanned: &Scanned) -> Option<u32> {
        if let Some(number) = self.numbers.get(scanned.template.as_slice()) {
            return Some(*number);
        }
        let mut pieces = Vec::new();
        let whole = verb(&scanned.template, scanned.constants.len());
        if !scanned.ends.is_empty() && whole != Verb::Lost("utility") {
            let (mut from, mut first) = (0, 0);
            let last = (scanned.template.len(), scanned.constants.len());
            for (end, constants) in scanned.ends.iter().copied().chain([last]) {
                let key = &scanned.template[from..end];
                let number = self.add(key, scanned.parameters, Vec::new())?;
                pieces.push((number, first..constants));
                (from, first) = ((end + 2).min(last.0), constants);
            }
        }
        self.add(&scanned.template, scanned.parameters, pieces)
    }

    /// A template of our own, without constants.
    pub(crate) fn own(&mut self, text: &[u8]) -> Option<u32> {
        self.add(text, 0, Vec::new())
    }

    fn add(
        &mut self,
        key: &[u8],
        parameters: usize,
        pieces: Vec<(u32, Range<usize>)>,
    ) -> Option<u32> {
        if let Some(number) = self.numbers.get(key) {
            return Some(*number);
        }
        if self.all.len() >= MOST || self.bytes + key.len() > MOST_BYTES {
            return None;
        }
        let (text, constants) = rendered(key, parameters)?;
        let number = u32::try_from(self.all.len()).ok()?;
        self.bytes += 2 * key.len();
        self.all.push(Template {
            text,
            parameters,
            constants,
            verb: verb(key, constants),
            pieces,
        });
        self.numbers.insert(key.into(), number);
        Some(number)
    }
}

fn rendered(key: &[u8], parameters: usize) -> Option<(String, usize)> {
    let mut text = Vec::with_capacity(key.len() + 16);
    let mut constants = 0;
    for byte in key {
        if *byte == MARK {
            constants += 1;
            text.extend_from_slice(format!("${}", parameters + constants).as_bytes());
        } else {
            text.push(*byte);
        }
    }
    Some((String::from_utf8(text).ok()?, constants))
}

fn verb(key: &[u8], constants: usize) -> Verb {
    let mut rest = key;
    while let Some(hint) = rest.strip_prefix(b"/*") {
        let end = memchr::memmem::find(hint, b"*/").map_or(hint.len(), |end| end + 2);
        rest = hint[end..].trim_ascii_start();
    }
    if rest.starts_with(b"(") {
        return Verb::Data;
    }
    let mut words = rest
        .split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        .map(<[u8]>::to_ascii_lowercase)
        .filter(|word| !matches!(word.as_slice(), b"" | b"work"));
    let (first, second) = (words.next(), words.next());
    let (first, second) = (first.unwrap_or_default(), second.unwrap_or_default());
    let third = words.next().unwrap_or_default();
    let kept = |reason| {
        if constants == 0 {
            Verb::Kept
        } else {
            Verb::Lost(reason)
        }
    };
    match (first.as_slice(), second.as_slice()) {
        (
            b"select" | b"insert" | b"update" | b"delete" | b"with" | b"values" | b"table"
            | b"merge" | b"call",
            _,
        ) => Verb::Data,
        (b"commit" | b"rollback", b"prepared") | (b"prepare", b"transaction") => {
            Verb::Lost("two-phase")
        }
        (b"begin", _) | (b"start", b"transaction") => Verb::Begin,
        (b"commit" | b"end", _) => Verb::Commit,
        (b"rollback", b"to") => Verb::Kept,
        (b"rollback" | b"abort", b"transaction") if third == b"to" => Verb::Kept,
        (b"rollback" | b"abort", _) => Verb::Rollback,
        (b"savepoint" | b"release" | b"lock", _) => kept("utility"),
        (b"set", b"transaction" | b"local" | b"constraints") => kept("setting"),
        (b"set" | b"reset" | b"show" | b"discard", _) => Verb::Lost("setting"),
        (b"copy", _) => Verb::Lost("copy"),
        (b"declare" | b"fetch" | b"move" | b"close", _) => Verb::Lost("cursor"),
        (b"listen" | b"unlisten" | b"notify", _) => Verb::Lost("listen"),
        (b"prepare" | b"execute" | b"deallocate", _) => Verb::Lost("sql-prepare"),
        _ => Verb::Lost("utility"),
    }
}

/// The options of `BEGIN` or `START TRANSACTION`, as a SET TRANSACTION statement.
pub(crate) fn options_of_begin(text: &str) -> Option<String> {
    let mut words = text.split_ascii_whitespace().skip(1).peekable();
    words.next_if(|word| {
        word.eq_ignore_ascii_case("work") || word.eq_ignore_ascii_case("transaction")
    });
    let options = words.collect::<Vec<_>>().join(" ");
    (!options.is_empty() && !options.contains('$')).then(|| format!("SET TRANSACTION {options}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::scan;

    fn of(text: &str) -> Verb {
        let mut scanned = Scanned::default();
        scan(text.as_bytes(), &mut scanned);
        verb(&scanned.template, scanned.constants.len())
    }

    #[test]
    fn statements_are_known_by_their_first_words() {
        assert_eq!(
            of("start transaction isolation level serializable"),
            Verb::Begin
        );
        assert_eq!(of("END"), Verb::Commit);
        assert_eq!(of("rollback work to savepoint a"), Verb::Kept);
        assert_eq!(of("ROLLBACK TRANSACTION TO a"), Verb::Kept);
        assert_eq!(of("abort"), Verb::Rollback);
        assert_eq!(of("/*+ x */ (select 1)"), Verb::Data);
        assert_eq!(of("SET LOCAL a = off"), Verb::Kept);
        assert_eq!(of("SET LOCAL a = 'x'"), Verb::Lost("setting"));
        assert_eq!(of("ALTER ROLE a PASSWORD 'x'"), Verb::Lost("utility"));
        assert_eq!(of(""), Verb::Lost("utility"));
    }

    #[test]
    fn what_begin_asks_for_is_a_statement() {
        let options = options_of_begin("BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE");
        let expected = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE";
        assert_eq!(options.as_deref(), Some(expected));
        assert_eq!(options_of_begin("begin"), None);
    }
}
