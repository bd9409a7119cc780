//! Cuts a script into SQL and meta commands.
//!
//! Enters: the text of a script. Leaves: commands with their offsets; SQL as texts and variable
//! references in turn. Never: parses SQL beyond what the end of a statement depends on: quotes,
//! comments, parentheses and the bodies of SQL functions.

use super::bytes::{find, is_space, trim_end};
use super::expression::token::{begins_word, is_word, word_length};
use super::problem::Problem;

mod depth;
use depth::Depth;

#[derive(Debug, Clone, PartialEq)]
pub enum Raw<'a> {
    Sql {
        pieces: Vec<RawPiece<'a>>,
        offset: usize,
    },
    Meta {
        /// Offset of the backslash.
        offset: usize,
        /// The rest of the line, and of its continuation lines, after the backslash.
        text: &'a [u8],
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawPiece<'a> {
    Text(&'a [u8]),
    Variable {
        name: &'a [u8],
        offset: usize,
        within: SqlContext,
    },
}

/// The part of SQL that contains a variable reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlContext {
    Code,
    /// A string, a quoted name or a dollar-quoted string.
    Quotes,
    Comment,
}

/// Cuts `text` into its commands, in order.
pub fn split(text: &[u8]) -> Result<Vec<Raw<'_>>, Problem> {
    let mut splitter = Splitter::new(text);
    std::iter::from_fn(|| splitter.next_command()).collect()
}

pub struct Splitter<'a> {
    text: &'a [u8],
    at: usize,
    /// Start of the text that belongs to no piece yet.
    start: usize,
    /// Where a string goes on in which a backslash escapes.
    continued: Option<usize>,
    pieces: Vec<RawPiece<'a>>,
}

impl<'a> Splitter<'a> {
    pub fn new(text: &'a [u8]) -> Splitter<'a> {
        Splitter {
            text,
            at: 0,
            start: 0,
            continued: None,
            pieces: Vec::new(),
        }
    }

    /// The next command; none at the end. After an error there is no other.
    pub fn next_command(&mut self) -> Option<Result<Raw<'a>, Problem>> {
        if !self.skip_to_command() {
            return None;
        }
        if self.byte(0) == Some(b'\\') && !self.at_escape() {
            Some(Ok(self.meta_command()))
        } else {
            Some(self.sql_command())
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn slice(&self, from: usize) -> &'a [u8] {
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn step(&mut self, count: usize) {
        self.at = (self.at + count).min(self.text.len());
    }

    /// `\;` and `\:` stand for the bare characters.
    fn at_escape(&self) -> bool {
        self.byte(0) == Some(b'\\') && matches!(self.byte(1), Some(b';' | b':'))
    }

    /// Skips space and comments of one line; false at the end of the script.
    fn skip_to_command(&mut self) -> bool {
        while let Some(byte) = self.byte(0) {
            if is_space(byte) {
                self.step(1);
            } else if self.rest().starts_with(b"--") {
                self.step(line_length(self.rest()));
            } else {
                return true;
            }
        }
        false
    }

    fn meta_command(&mut self) -> Raw<'a> {
        let offset = self.at;
        self.step(1);
        let start = self.at;
        while let Some(byte) = self.byte(0) {
            let rest = self.rest();
            if rest.starts_with(b"\\\n") || rest.starts_with(b"\\\r\n") {
                let newline = find(rest, b"\n").unwrap_or(0);
                self.step(newline + 1);
            } else if byte == b'\n' {
                break;
            } else {
                self.step(1);
            }
        }
        Raw::Meta {
            offset,
            text: self.slice(start),
        }
    }

    fn sql_command(&mut self) -> Result<Raw<'a>, Problem> {
        let offset = self.at;
        self.start = self.at;
        let mut depth = Depth::default();
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\'' => self.quoted(b'\'', self.continued == Some(self.at))?,
                b'"' => self.quoted(b'"', false)?,
                b'$' => self.dollar_quoted()?,
                b'-' if self.byte(1) == Some(b'-') => {
                    self.enclosed(line_length(self.rest()), SqlContext::Comment);
                }
                b'/' if self.byte(1) == Some(b'*') => self.block_comment()?,
                b'(' | b')' => {
                    depth.parenthesis(byte == b'(');
                    self.step(1);
                }
                b';' => {
                    self.step(1);
                    if depth.is_outside() {
                        break;
                    }
                }
                b'\\' if self.at_escape() => {
                    self.end_text();
                    self.step(1);
                    self.start = self.at;
                    if self.byte(0) == Some(b';') {
                        self.step(1);
                        depth.restart();
                    }
                }
                // A meta command ends the statement, as a semicolon does.
                b'\\' => break,
                b':' => self.colon(SqlContext::Code),
                _ if begins_word(byte) => {
                    let word = self.identifier();
                    depth.word(word);
                    if word.eq_ignore_ascii_case(b"e") && self.byte(0) == Some(b'\'') {
                        self.quoted(b'\'', true)?;
                    }
                }
                _ if byte.is_ascii_digit() => self.number(),
                _ => self.step(1),
            }
        }
        self.end_text();
        if let Some(RawPiece::Text(last)) = self.pieces.last_mut() {
            *last = trim_end(last);
        }
        Ok(Raw::Sql {
            pieces: std::mem::take(&mut self.pieces),
            offset,
        })
    }

    /// Ends a piece of text here.
    fn end_text(&mut self) {
        let text = self.slice(self.start);
        if !text.is_empty() {
            self.pieces.push(RawPiece::Text(text));
        }
        self.start = self.at;
    }

    /// Reads a colon and the variable after it. Several colons begin no variable: `x::text`.
    fn colon(&mut self, within: SqlContext) {
        if self.byte(1).is_some_and(begins_word) {
            self.end_text();
            let offset = self.at;
            self.step(1);
            let start = self.at;
            self.step(word_length(self.rest()));
            self.pieces.push(RawPiece::Variable {
                name: self.slice(start),
                offset,
                within,
            });
            self.start = self.at;
            return;
        }
        if within == SqlContext::Code && self.unset_test() {
            return;
        }
        let colons = self.rest().iter().take_while(|&&b| b == b':').count();
        self.step(colons);
    }

    /// `:{?name}` is psql's test whether a variable is set; in pgbench it is always false.
    fn unset_test(&mut self) -> bool {
        let Some(name) = self.rest().strip_prefix(b":{?") else {
            return false;
        };
        let length = word_length(name);
        if length == 0 || name.get(length) != Some(&b'}') {
            return false;
        }
        self.end_text();
        self.pieces.push(RawPiece::Text(b"FALSE"));
        self.step(length + 4);
        self.start = self.at;
        true
    }

    /// Skips `length` bytes of quotes or a comment, and finds the variables in them.
    fn enclosed(&mut self, length: usize, within: SqlContext) {
        let end = self.at + length;
        while let Some(found) = self
            .text
            .get(self.at..end)
            .and_then(|text| find(text, b":"))
        {
            self.step(found);
            self.colon(within);
        }
        self.at = end.max(self.at);
    }

    fn quoted(&mut self, quote: u8, backslashes: bool) -> Result<(), Problem> {
        let what = if quote == b'\'' {
            "the string"
        } else {
            "the quoted name"
        };
        let body = self.rest().get(1..).unwrap_or_default();
        // Without backslashes a doubled quote can be read as the end of one string and the start of another.
        let end = if backslashes {
            escaped_end(body)
        } else {
            find(body, &[quote]).map(|end| end + 1)
        };
        match end {
            Some(end) => {
                self.enclosed(1 + end, SqlContext::Quotes);
                if backslashes {
                    self.continued = continuation(self.rest()).map(|gap| self.at + gap);
                }
                Ok(())
            }
            None => Err(self.unclosed(what)),
        }
    }

    fn dollar_quoted(&mut self) -> Result<(), Problem> {
        let after = self.rest().get(1..).unwrap_or_default();
        let tag = word_length(after);
        let begins = after.first().is_some_and(|&byte| begins_word(byte)) || tag == 0;
        if !begins || after.get(tag) != Some(&b'$') {
            self.step(1);
            return Ok(());
        }
        let delimiter = self.rest().get(..tag + 2).unwrap_or_default();
        let body = self.rest().get(delimiter.len()..).unwrap_or_default();
        match find(body, delimiter) {
            Some(end) => {
                self.enclosed(end + 2 * delimiter.len(), SqlContext::Quotes);
                Ok(())
            }
            None => Err(self.unclosed("the dollar-quoted string")),
        }
    }

    /// Block comments nest in SQL.
    fn block_comment(&mut self) -> Result<(), Problem> {
        let bytes = self.rest();
        let (mut length, mut depth) = (0, 0usize);
        loop {
            match bytes.get(length..length + 2) {
                Some(b"/*") => {
                    depth += 1;
                    length += 2;
                }
                Some(b"*/") => {
                    depth -= 1;
                    length += 2;
                    if depth == 0 {
                        self.enclosed(length, SqlContext::Comment);
                        return Ok(());
                    }
                }
                Some(_) => length += 1,
                None => return Err(self.unclosed("the comment")),
            }
        }
    }

    fn unclosed(&self, what: &str) -> Problem {
        Problem::new(self.at, format!("{what} that begins here is not closed"))
    }

    /// Reads a number. Letters directly after it do not begin a word; a `$` may begin a string.
    fn number(&mut self) {
        let digits = |byte: &u8| byte.is_ascii_digit() || *byte == b'_';
        let length = self.rest().iter().copied().take_while(digits).count();
        self.step(length);
        if self.byte(0).is_some_and(begins_word) {
            self.identifier();
        }
    }

    /// Reads a name of SQL, inside which `$` is an ordinary character.
    fn identifier(&mut self) -> &'a [u8] {
        let start = self.at;
        let length = self
            .rest()
            .iter()
            .take_while(|&&byte| is_word(byte) || byte == b'$')
            .count();
        self.step(length);
        self.slice(start)
    }
}

/// The length of a line, which a carriage return ends too, as in psql.
fn line_length(text: &[u8]) -> usize {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    end.unwrap_or(text.len())
}

/// The bytes up to a string that goes on with the one before: only space and comments of one line
/// stand between them, and at least one end of a line.
fn continuation(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut is_next_line = false;
    loop {
        let rest = text.get(at..)?;
        match rest {
            [b'\n' | b'\r', ..] => {
                is_next_line = true;
                at += 1;
            }
            [b' ' | b'\t' | b'\x0b' | b'\x0c', ..] => at += 1,
            [b'-', b'-', ..] => at += line_length(rest),
            [b'\'', ..] if is_next_line => return Some(at),
            _ => return None,
        }
    }
}

/// The end of a string with backslash escapes, after its closing quote.
fn escaped_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (b'\\', Some(_)) | (b'\'', Some(b'\'')) => at += 2,
            (b'\'', _) => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests;
