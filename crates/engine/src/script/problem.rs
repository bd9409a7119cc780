//! Where and why a script does not parse.
//!
//! Enters: an offset into a script's text, found by any stage of parsing. Leaves: an error with
//! file, line, column and the offending line. Never: decides what is wrong.

use crate::error::EngineError;

/// What is wrong with a script, at a byte of its text.
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

    /// As an error of the script `file` whose text is `script`.
    pub fn locate(self, file: &str, script: &str) -> EngineError {
        let before = script.get(..self.offset).unwrap_or(script);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let from_start = script.get(line_start..).unwrap_or_default();
        let line = from_start.lines().next().unwrap_or_default();
        let inset = before.get(line_start..).unwrap_or_default();
        // Tabs stay, so that the caret stands under its character whatever their width.
        let padding: String = inset
            .chars()
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        EngineError::Script {
            file: file.to_owned(),
            line: line_of(script, self.offset),
            column: inset.chars().count() + 1,
            problem: self.text,
            excerpt: format!("{line}\n{padding}^"),
        }
    }
}

/// The line, counted from 1, that the byte at `offset` stands on.
pub fn line_of(script: &str, offset: usize) -> usize {
    let before = script.as_bytes().get(..offset);
    let before = before.unwrap_or(script.as_bytes());
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(script: &str, offset: usize) -> (String, String) {
        match Problem::new(offset, "no").locate("x.sql", script) {
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
}
