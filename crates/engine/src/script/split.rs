//! Cuts a script into SQL and meta commands.
//!
//! Enters: the text of a script. Leaves: commands with the line each begins on; SQL as texts and
//! variable references in turn. Never: understands SQL beyond where a statement ends, which
//! takes quotes, comments, parentheses and the bodies of SQL functions.

use super::token::{BadToken, is_word, word_length};

#[derive(Debug, Clone, PartialEq)]
pub enum Raw<'a> {
    Sql {
        pieces: Vec<RawPiece<'a>>,
        line: usize,
    },
    Meta {
        name: &'a str,
        /// The rest of the line and of those that continue it.
        arguments: &'a str,
        line: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawPiece<'a> {
    Text(&'a str),
    Variable(&'a str),
}

/// Cuts `text` into its commands, in order.
pub fn split(text: &str) -> Result<Vec<Raw<'_>>, BadToken> {
    let mut splitter = Splitter {
        text,
        at: 0,
        line: 1,
    };
    let mut commands = Vec::new();
    while splitter.skip_to_command()? {
        let command = if splitter.byte(0) == Some(b'\\') {
            splitter.meta_command()
        } else {
            splitter.sql_command()?
        };
        commands.push(command);
    }
    Ok(commands)
}

struct Splitter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Splitter<'a> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn slice(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    /// Steps over `count` bytes and counts the lines among them.
    fn step(&mut self, count: usize) {
        let end = (self.at + count).min(self.text.len());
        let passed = self.text.as_bytes().get(self.at..end).unwrap_or_default();
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.at = end;
    }

    /// Steps over the first `end` from here on, or says what is not closed.
    fn step_past(&mut self, end: &str, what: &str) -> Result<(), BadToken> {
        match self.rest().find(end) {
            Some(found) => {
                self.step(found + end.len());
                Ok(())
            }
            None => Err(self.unclosed(what)),
        }
    }

    fn unclosed(&self, what: &str) -> BadToken {
        BadToken {
            line: self.line,
            problem: format!("{what} that begins here is not closed"),
        }
    }

    /// Leaves out space, comments and empty statements; false at the end of the script.
    fn skip_to_command(&mut self) -> Result<bool, BadToken> {
        while let Some(byte) = self.byte(0) {
            if byte.is_ascii_whitespace() || byte == b'\x0b' || byte == b';' {
                self.step(1);
            } else if !self.skip_comment()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn skip_comment(&mut self) -> Result<bool, BadToken> {
        match (self.byte(0), self.byte(1)) {
            (Some(b'-'), Some(b'-')) => {
                let length = self.rest().find('\n').unwrap_or(self.rest().len());
                self.step(length);
                Ok(true)
            }
            (Some(b'/'), Some(b'*')) => self.block_comment().map(|()| true),
            _ => Ok(false),
        }
    }

    /// Block comments nest in SQL.
    fn block_comment(&mut self) -> Result<(), BadToken> {
        let unclosed = self.unclosed("the comment");
        let mut depth = 0usize;
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b'/'), Some(b'*')) => {
                    depth += 1;
                    self.step(2);
                }
                (Some(b'*'), Some(b'/')) => {
                    self.step(2);
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                (Some(_), _) => self.step(1),
                (None, _) => return Err(unclosed),
            }
        }
    }

    fn meta_command(&mut self) -> Raw<'a> {
        let line = self.line;
        self.step(1);
        let start = self.at;
        while self.byte(0).is_some_and(|byte| !byte.is_ascii_whitespace())
            && !self.at_continuation()
        {
            self.step(1);
        }
        let name = self.slice(start);
        let start = self.at;
        while let Some(byte) = self.byte(0) {
            if self.at_continuation() {
                let newline = self.rest().find('\n').unwrap_or(0);
                self.step(newline + 1);
            } else if byte == b'\n' {
                break;
            } else {
                self.step(1);
            }
        }
        Raw::Meta {
            name,
            arguments: self.slice(start),
            line,
        }
    }

    fn at_continuation(&self) -> bool {
        self.rest().starts_with("\\\n") || self.rest().starts_with("\\\r\n")
    }

    fn sql_command(&mut self) -> Result<Raw<'a>, BadToken> {
        let line = self.line;
        let mut pieces = Pieces::default();
        let mut start = self.at;
        let mut depth = Depth::default();
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\'' => self.quoted("'", false)?,
                b'"' => self.quoted("\"", false)?,
                b'$' => self.dollar_quoted()?,
                b'-' | b'/' if self.skip_comment()? => {}
                b'(' | b')' => {
                    depth.parenthesis(byte == b'(');
                    self.step(1);
                }
                b';' if depth.is_outside() => {
                    self.step(1);
                    break;
                }
                // `\;` and `\:` stand for the bare characters.
                b'\\' if matches!(self.byte(1), Some(b';' | b':')) => {
                    pieces.text(self.slice(start));
                    self.step(1);
                    start = self.at;
                    self.step(1);
                }
                // A meta command ends the statement, as a semicolon does.
                b'\\' => break,
                b':' if matches!(self.byte(1), Some(b':' | b'=')) => self.step(2),
                b':' if self.byte(1).is_some_and(begins_word) => {
                    pieces.text(self.slice(start));
                    self.step(1);
                    start = self.at;
                    self.step(word_length(self.rest()));
                    pieces.all.push(RawPiece::Variable(self.slice(start)));
                    start = self.at;
                }
                _ if begins_word(byte) => {
                    let word = self.identifier();
                    depth.word(word);
                    if word.eq_ignore_ascii_case("e") && self.byte(0) == Some(b'\'') {
                        self.quoted("'", true)?;
                    }
                }
                // A number may run into letters, which then begin no word of their own.
                _ if byte.is_ascii_digit() => {
                    self.identifier();
                }
                _ => self.step(1),
            }
        }
        pieces.text(self.slice(start).trim_end());
        Ok(Raw::Sql {
            pieces: pieces.all,
            line,
        })
    }

    /// A doubled quote inside needs no care here: it closes one string and opens the next.
    fn quoted(&mut self, quote: &str, backslashes: bool) -> Result<(), BadToken> {
        let what = if quote == "'" {
            "the string"
        } else {
            "the quoted name"
        };
        let unclosed = self.unclosed(what);
        self.step(1);
        if !backslashes {
            return self.step_past(quote, what).map_err(|_| unclosed);
        }
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b'\\'), Some(_)) | (Some(b'\''), Some(b'\'')) => self.step(2),
                (Some(b'\''), _) => {
                    self.step(1);
                    return Ok(());
                }
                (Some(_), _) => self.step(1),
                (None, _) => return Err(unclosed),
            }
        }
    }

    fn dollar_quoted(&mut self) -> Result<(), BadToken> {
        let after = self.rest().get(1..).unwrap_or_default();
        let tag = word_length(after);
        let begins = after.bytes().next().is_some_and(begins_word) || tag == 0;
        if !begins || after.as_bytes().get(tag) != Some(&b'$') {
            self.step(1);
            return Ok(());
        }
        let unclosed = self.unclosed("the dollar-quoted string");
        let delimiter = self.rest().get(..tag + 2).unwrap_or_default();
        self.step(delimiter.len());
        self.step_past(delimiter, "").map_err(|_| unclosed)
    }

    /// Inside a name `$` is an ordinary character.
    fn identifier(&mut self) -> &'a str {
        let start = self.at;
        let length = self
            .rest()
            .bytes()
            .take_while(|&byte| is_word(byte) || byte == b'$')
            .count();
        self.step(length);
        self.slice(start)
    }
}

/// Names do not begin with a digit, so that `12:30` or `a[1:2]` stay what they are.
fn begins_word(byte: u8) -> bool {
    is_word(byte) && !byte.is_ascii_digit()
}

#[derive(Default)]
struct Pieces<'a> {
    all: Vec<RawPiece<'a>>,
}

impl<'a> Pieces<'a> {
    fn text(&mut self, text: &'a str) {
        if !text.is_empty() {
            self.all.push(RawPiece::Text(text));
        }
    }
}

/// Whether a semicolon ends the statement: not within parentheses, nor between BEGIN ATOMIC and
/// END of a function in SQL.
#[derive(Default)]
struct Depth {
    parentheses: usize,
    words: usize,
    creates: bool,
    creates_function: bool,
    blocks: usize,
}

impl Depth {
    fn is_outside(&self) -> bool {
        self.parentheses == 0 && self.blocks == 0
    }

    fn parenthesis(&mut self, opens: bool) {
        self.parentheses = if opens {
            self.parentheses + 1
        } else {
            self.parentheses.saturating_sub(1)
        };
    }

    fn word(&mut self, word: &str) {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword);
        self.words += 1;
        if self.words == 1 {
            self.creates = is("create");
        } else if self.creates && self.words <= 4 && (is("function") || is("procedure")) {
            self.creates_function = true;
        }
        if !self.creates_function || self.parentheses > 0 {
            return;
        }
        if is("begin") || (is("case") && self.blocks > 0) {
            self.blocks += 1;
        } else if is("end") {
            self.blocks = self.blocks.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests;
