//! A syntax error of a script: its place and reason.
//!
//! Enters: an offset into a script's text, found by any stage of parsing. Leaves: an error with
//! file, line, column and the offending line. Never: decides what is wrong.

use std::iter::repeat;

use pgassay_session::shown;

use crate::error::EngineError;

/// Characters of a line that are shown.
const WIDEST: usize = 120;

/// A problem of a script, at a byte of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub offset: usize,
    pub text: String,
}

impl Problem {
    pub fn new(offset: usize, text: impl Into<String>) -> Problem {
        Problem {
            offset,
            text: text.into(),
        }
    }

    /// Makes the error for the script `file` whose text is `script`.
    pub fn locate(self, file: &str, script: &[u8]) -> EngineError {
        let before = script.get(..self.offset).unwrap_or(script);
        let line_start = before.iter().rposition(|&byte| byte == b'\n');
        let line_start = line_start.map_or(0, |newline| newline + 1);
        let from_start = script.get(line_start..).unwrap_or_default();
        let line = from_start.split(|&byte| byte == b'\n').next();
        let line = line.unwrap_or_default();
        let line = shown(line.strip_suffix(b"\r").unwrap_or(line));
        let inset = before.get(line_start..).unwrap_or_default();
        EngineError::Script {
            file: file.to_owned(),
            line: line_of(script, self.offset),
            // A byte of a one-byte encoding is one character in the user's editor.
            column: String::from_utf8_lossy(inset).chars().count() + 1,
            problem: self.text,
            excerpt: excerpt(&line, shown(inset).chars().count()),
        }
    }
}

/// The line, or the part of a long line around the place, and a caret under it.
fn excerpt(line: &str, column: usize) -> String {
    let skipped = if line.chars().count() > WIDEST {
        column.saturating_sub(WIDEST / 2)
    } else {
        0
    };
    let begin = if skipped > 0 { "…" } else { "" };
    let mut rest = line.chars().skip(skipped);
    let shown: String = rest.by_ref().take(WIDEST).collect();
    let end = if rest.next().is_some() { "…" } else { "" };
    // Tabs are kept, so that the caret is under its character whatever their width.
    let inset = line.chars().chain(repeat(' ')).skip(skipped);
    let padding: String = begin
        .chars()
        .chain(inset.take(column - skipped))
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    format!("{begin}{shown}{end}\n{padding}^")
}

/// The line, counted from 1, of the byte at `offset`.
pub fn line_of(script: &[u8], offset: usize) -> usize {
    let before = script.get(..offset).unwrap_or(script);
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(script: &str, offset: usize) -> (String, String) {
        match Problem::new(offset, "no").locate("x.sql", script.as_bytes()) {
            EngineError::Script { ref excerpt, .. } if excerpt.is_empty() => unreachable!(),
            error => {
                let shown = error.to_string();
                let EngineError::Script { excerpt, .. } = error else {
                    unreachable!()
                };
                (shown, excerpt)
            }
        }
    }

    #[test]
    fn the_place_is_named_and_shown() {
        for (script, offset, message, excerpt) in [
            ("a b", 2, "x.sql:1:3: no", "a b\n  ^"),
            ("a\n\té b\r\nc", 6, "x.sql:2:4: no", "\té b\n\t  ^"),
            ("a\n", 2, "x.sql:2:1: no", "\n^"),
            ("a", 99, "x.sql:1:2: no", "a\n ^"),
            ("", 0, "x.sql:1:1: no", "\n^"),
        ] {
            assert_eq!(
                located(script, offset),
                (message.to_owned(), excerpt.to_owned())
            );
        }
    }

    #[test]
    fn of_a_long_line_only_what_is_around_the_place_is_shown() {
        let script = format!("{}b{}", "a".repeat(500_000), "c".repeat(500_000));
        let (message, excerpt) = located(&script, 500_000);
        assert_eq!(message, "x.sql:1:500001: no");
        let (line, caret) = excerpt.split_once('\n').unwrap();
        let column = caret.chars().count() - 1;
        assert_eq!(line.chars().nth(column), Some('b'));
        assert_eq!(line.chars().count(), WIDEST + 2);
    }
}
