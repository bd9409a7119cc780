//! From a statement's text to its template and the constants in it.
//!
//! Enters: the text of a simple query or of a prepared statement. Leaves: [`Scanned`]: the text with
//! one mark for each constant, without comments and with single blanks, and the constants' values.
//! Never: parses: it tells apart what PostgreSQL's lexer does, and leaves a constant in its place
//! where the grammar takes nothing else (`ORDER BY 1`, `numeric(10,2)`, `interval '1' day`).
//!
//! A typed constant, `date '2020-01-01'`, becomes `CAST($1 AS date)`, where a parameter may stand.

mod constants;
mod quotes;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use quotes::undouble;
use words::{BEFORE_EXPRESSIONS, ENDS_OF_LISTS, TYPES_WITH_MODIFIERS};

/// Stands for a constant in a template; control characters of a text become blanks.
pub(crate) const MARK: u8 = 1;

/// What a value is, in the tables of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    Null = 0,
    Number = 1,
    Text = 2,
    Bool = 3,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Constant {
    pub(crate) tag: Tag,
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

/// A text as it was scanned; used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) template: Vec<u8>,
    pub(crate) constants: Vec<Constant>,
    /// The constants' values, one after another.
    pub(crate) values: Vec<u8>,
    /// Where statements end: the length of the template and the number of constants before each
    /// `;` that another statement follows.
    pub(crate) ends: Vec<(usize, usize)>,
    /// The highest `$n`.
    pub(crate) parameters: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Start,
    /// A word: where it lies in the template.
    Word(usize, usize),
    /// A constant, parameter or closing bracket: what a sign after it subtracts from.
    Operand,
    Closed,
    Opened,
    Comma,
    Equal,
    Other,
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    out: &'a mut Scanned,
    before: Before,
    /// The word before an opening bracket before this place.
    opened_by: Option<(usize, usize)>,
    /// In the brackets of a type: `numeric(10,2)`.
    in_modifiers: bool,
    /// In the list of GROUP BY or ORDER BY.
    in_list: bool,
    square: usize,
    open: usize,
    pending_end: bool,
}

/// Scans `text` into `out`, whose former content goes.
pub(crate) fn scan(text: &[u8], out: &mut Scanned) {
    out.template.clear();
    out.constants.clear();
    out.values.clear();
    out.ends.clear();
    out.parameters = 0;
    let mut scanner = Scanner {
        text,
        at: 0,
        out,
        before: Before::Start,
        opened_by: None,
        in_modifiers: false,
        in_list: false,
        square: 0,
        open: 0,
        pending_end: false,
    };
    scanner.run();
    let kept = scanner.out.template.trim_ascii_end().len();
    scanner.out.template.truncate(kept);
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) {
        while self.at < self.text.len() {
            let byte = self.text[self.at];
            match byte {
                0..=b' ' => {
                    self.blank();
                    self.at += 1;
                }
                b'-' if self.peek(1) == b'-' => {
                    let end = memchr::memchr(b'\n', &self.text[self.at..]);
                    self.at = end.map_or(self.text.len(), |end| self.at + end);
                    self.blank();
                }
                b'/' if self.peek(1) == b'*' => self.comment(),
                _ => {
                    self.begin_statement(byte);
                    self.token(byte);
                }
            }
        }
    }

    fn blank(&mut self) {
        if self.out.template.last().is_some_and(|last| *last != b' ') {
            self.out.template.push(b' ');
        }
    }

    /// What follows a `;` makes it one between statements.
    fn begin_statement(&mut self, byte: u8) {
        if self.pending_end && byte != b';' {
            self.pending_end = false;
            let kept = self.out.template.trim_ascii_end().len();
            self.out.template.truncate(kept);
            self.out.ends.push((kept, self.out.constants.len()));
            self.out.template.extend_from_slice(b"; ");
            self.before = Before::Start;
        }
    }

    /// Comments nest; hints of extensions, `/*+ … */`, are kept.
    fn comment(&mut self) {
        let begin = self.at;
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        break;
                    }
                }
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.text.len());
        self.blank();
        let comment = &self.text[begin..end];
        if comment.starts_with(b"/*+") {
            self.out.template.extend_from_slice(comment);
            self.out.template.push(b' ');
        }
    }

    fn token(&mut self, byte: u8) {
        match byte {
            b'\'' => self.quoted(self.at, false),
            b'"' => self.identifier(),
            b'$' if self.peek(1).is_ascii_digit() => self.parameter(),
            b'$' => self.dollar_quoted(),
            b'0'..=b'9' => self.number(self.at),
            b'.' if self.peek(1).is_ascii_digit() && self.before != Before::Operand => {
                self.number(self.at);
            }
            b'-' if self.peek(1).is_ascii_digit() && self.signs() => {
                let begin = self.at;
                self.at += 1;
                self.number(begin);
            }
            b';' => {
                self.at += 1;
                if self.open == 0 {
                    self.pending_end = !self.out.template.is_empty();
                } else {
                    self.push(b';', Before::Other);
                }
            }
            _ if is_word_start(byte) => self.word(),
            _ => self.sign(byte),
        }
    }

    fn push(&mut self, byte: u8, before: Before) {
        self.out.template.push(byte);
        self.before = before;
    }

    fn sign(&mut self, byte: u8) {
        self.at += 1;
        match byte {
            b'(' => {
                let word = match self.before {
                    Before::Word(begin, end) => Some((begin, end)),
                    _ => None,
                };
                self.in_modifiers =
                    word.is_some_and(|word| self.is_one_of(word, TYPES_WITH_MODIFIERS));
                self.opened_by = word;
                self.in_list = false;
                self.open += 1;
                self.push(byte, Before::Opened);
            }
            b')' => {
                self.in_modifiers = false;
                self.in_list = false;
                self.open = self.open.saturating_sub(1);
                self.push(byte, Before::Closed);
            }
            b'[' => {
                self.square += 1;
                self.push(byte, Before::Opened);
            }
            b']' => {
                self.square = self.square.saturating_sub(1);
                self.push(byte, Before::Closed);
            }
            b',' => self.push(byte, Before::Comma),
            b'=' => self.push(byte, Before::Equal),
            _ => self.push(byte, Before::Other),
        }
    }

    /// Whether a minus is a number's sign.
    fn signs(&self) -> bool {
        match self.before {
            Before::Operand | Before::Closed => false,
            Before::Word(begin, end) => self.is_one_of((begin, end), BEFORE_EXPRESSIONS),
            _ => true,
        }
    }

    fn is_one_of(&self, (begin, end): (usize, usize), words: &[&str]) -> bool {
        let word = &self.out.template[begin..end];
        words
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    }

    fn word(&mut self) {
        let begin = self.at;
        let length = self.text[begin..]
            .iter()
            .take_while(|byte| is_word(**byte))
            .count();
        self.at += length;
        let word = &self.text[begin..self.at];
        if self.peek(0) == b'\'' && word.len() == 1 {
            match word[0] {
                b'e' | b'E' => return self.quoted(self.at, true),
                b'n' | b'N' => return self.quoted(self.at, false),
                b'b' | b'B' | b'x' | b'X' => return self.verbatim_string(begin),
                _ => {}
            }
        }
        if self.peek(0) == b'&' && self.peek(1) == b'\'' && word.eq_ignore_ascii_case(b"u") {
            self.at += 1;
            return self.verbatim_string(begin);
        }
        let tag = match word.len() {
            4 if word.eq_ignore_ascii_case(b"null") => Some(Tag::Null),
            4 if word.eq_ignore_ascii_case(b"true") => Some(Tag::Bool),
            5 if word.eq_ignore_ascii_case(b"false") => Some(Tag::Bool),
            _ => None,
        };
        let as_value = matches!(self.before, Before::Opened | Before::Comma | Before::Equal);
        if let (Some(tag), true) = (tag, as_value) {
            let at = self.out.values.len();
            if tag == Tag::Bool {
                self.out
                    .values
                    .extend(word.iter().map(u8::to_ascii_lowercase));
            }
            return self.mark(tag, at);
        }
        let place = self.out.template.len();
        self.out.template.extend_from_slice(word);
        let placed = (place, place + length);
        if self.is_one_of(placed, &["by"]) {
            self.in_list = true;
        } else if self.in_list && self.is_one_of(placed, ENDS_OF_LISTS) {
            self.in_list = false;
        }
        self.before = Before::Word(placed.0, placed.1);
    }

    fn identifier(&mut self) {
        let begin = self.at;
        self.at += 1;
        self.skip_quoted(b'"', false);
        let place = self.out.template.len();
        let name = self.text[begin..self.at].iter();
        self.out.template.extend(name.map(|byte| (*byte).max(b' ')));
        self.before = Before::Word(place, self.out.template.len());
    }

    /// Goes on behind the closing quote; two are one.
    fn skip_quoted(&mut self, quote: u8, escapes: bool) {
        while self.at < self.text.len() {
            let byte = self.text[self.at];
            self.at += 1;
            if escapes && byte == b'\\' {
                self.at += 1;
            } else if byte == quote {
                if self.peek(0) != quote {
                    break;
                }
                self.at += 1;
            }
        }
        self.at = self.at.min(self.text.len());
    }

    fn verbatim_string(&mut self, begin: usize) {
        self.at += 1;
        self.skip_quoted(b'\'', false);
        self.verbatim(begin);
    }

    fn verbatim(&mut self, begin: usize) {
        let text = self.text[begin..self.at].iter();
        self.out.template.extend(text.map(|byte| (*byte).max(b' ')));
        self.before = Before::Operand;
    }
}
