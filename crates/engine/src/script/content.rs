//! The content of a variable: an expression's result, or a text from outside.
//!
//! Enters: results of expressions, texts given with `-D` or read by `\gset`, values of a file of
//! parameters. Leaves: values for expressions, text or literals for SQL. Never: guesses; a text that is not a value is an error of the
//! script.

use std::io::Write;

use pgassay_session::shown;

use super::expression::{Fault, Value};

#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Value(Value),
    /// Bytes in the client's encoding.
    Text(Vec<u8>),
    /// A double of a file of parameters: unlike a result, it is sent with all its digits.
    Exact(f64),
    /// A text of a file of parameters, in UTF-8 without a zero byte: in SQL a literal in quotes.
    Given(Vec<u8>),
}

impl Content {
    /// The value in an expression; a text is read by pgbench's rules. `name` is for the error.
    pub fn to_value(&self, name: &[u8]) -> Result<Value, Fault> {
        match self {
            Content::Value(value) => Ok(*value),
            Content::Text(text) | Content::Given(text) => read(text, name),
            Content::Exact(value) => Ok(Value::Double(*value)),
        }
    }

    pub fn write_text(&self, output: &mut Vec<u8>) {
        match self {
            Content::Value(value) => value.write_text(output),
            Content::Text(text) | Content::Given(text) => output.extend_from_slice(text),
            Content::Exact(value) => write_exact(*value, output),
        }
    }

    /// As a part of SQL. What a file gives is a literal; anything else is put there as it is, as in
    /// pgbench.
    pub fn write_sql(&self, output: &mut Vec<u8>) {
        match self {
            Content::Given(text) => write_literal(text, output),
            Content::Exact(value) if !value.is_finite() => {
                output.push(b'\'');
                self.write_text(output);
                output.push(b'\'');
            }
            _ => self.write_text(output),
        }
    }
}

/// The shortest text that is read as the same double.
fn write_exact(value: f64, output: &mut Vec<u8>) {
    if !value.is_finite() {
        return Value::Double(value).write_text(output);
    }
    let start = output.len();
    // Writing to a vector does not fail.
    let _ = write!(output, "{value:?}");
    if output
        .get(start..)
        .is_some_and(|text| text.ends_with(b".0"))
    {
        output.truncate(output.len() - 2);
    }
}

/// A literal that is read alike whatever `standard_conforming_strings` is, as libpq writes it.
fn write_literal(text: &[u8], output: &mut Vec<u8>) {
    let has_backslash = text.contains(&b'\\');
    // The blank keeps the E apart from a word before it.
    output.extend_from_slice(if has_backslash { b" E'" } else { b"'" });
    for &byte in text {
        if byte == b'\'' || byte == b'\\' {
            output.push(byte);
        }
        output.push(byte);
    }
    output.push(b'\'');
}

fn read(text: &[u8], name: &[u8]) -> Result<Value, Fault> {
    let malformed = || {
        let (name, text) = (shown(name), shown(text));
        Fault::with_value(format!("malformed variable \"{name}\" value: \"{text}\""))
    };
    let is = |word: &[u8]| text.eq_ignore_ascii_case(word);
    // Any prefix of these words is accepted, as in pgbench.
    let begins = |word: &[u8]| {
        let start = word.get(..text.len());
        start.is_some_and(|start| text.eq_ignore_ascii_case(start))
    };
    if text.is_empty() {
        Err(malformed())
    } else if is(b"null") {
        Ok(Value::Null)
    } else if begins(b"true") || begins(b"yes") || is(b"on") {
        Ok(Value::Bool(true))
    } else if begins(b"false") || begins(b"no") || is(b"off") || is(b"of") {
        Ok(Value::Bool(false))
    } else {
        let text = std::str::from_utf8(text).map_err(|_| malformed())?;
        read_number(text.trim_ascii_start()).map_err(|problem| match problem {
            Some(problem) => Fault::with_value(problem),
            None => malformed(),
        })
    }
}

/// Reads a number: all digits must be an integer, anything else a double; `None` if it is neither.
fn read_number(word: &str) -> Result<Value, Option<String>> {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        return match word.parse() {
            Ok(value) => Ok(Value::Int(value)),
            Err(_) if digits.is_empty() => Err(Some(format!(
                "invalid input syntax for type bigint: \"{word}\""
            ))),
            Err(_) => Err(Some(format!(
                "value \"{word}\" is out of range for type bigint"
            ))),
        };
    }
    let value: f64 = word.parse().map_err(|_| None)?;
    let names_itself = digits.bytes().all(|b| b.is_ascii_alphabetic());
    if value.is_infinite() && !names_itself {
        return Err(None);
    }
    Ok(Value::Double(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> Result<Value, String> {
        let content = Content::Text(text.into());
        content.to_value(b"v").map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_given_text_is_read_by_its_form() {
        for (text, value) in [
            ("12", Value::Int(12)),
            ("+12", Value::Int(12)),
            (" 1e3", Value::Double(1000.0)),
            ("TRUE", Value::Bool(true)),
            ("y", Value::Bool(true)),
            ("fal", Value::Bool(false)),
            ("of", Value::Bool(false)),
            ("NULL", Value::Null),
            ("inf", Value::Double(f64::INFINITY)),
        ] {
            assert_eq!(content(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_a_file_gives_is_sent_exactly() {
        let sent = |content: Content| {
            let (mut text, mut sql) = (Vec::new(), Vec::new());
            content.write_text(&mut text);
            content.write_sql(&mut sql);
            [text, sql].map(|one| String::from_utf8(one).unwrap())
        };
        for (value, text) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (2.0, "2"),
            (-1e300, "-1e300"),
        ] {
            assert_eq!(sent(Content::Exact(value)), [text, text]);
        }
        let infinite = Content::Exact(f64::NEG_INFINITY);
        assert_eq!(sent(infinite), ["-Infinity", "'-Infinity'"]);
        for (text, sql) in [("", "''"), ("it's", "'it''s'"), ("a\\'é", " E'a\\\\''é'")] {
            assert_eq!(sent(Content::Given(text.into())), [text, sql]);
            assert_eq!(sent(Content::Text(text.into())), [text, text]);
        }
        assert_eq!(
            Content::Given("12".into()).to_value(b"v"),
            Ok(Value::Int(12))
        );
    }

    #[test]
    fn what_is_no_value_is_a_fault_in_pgbench_s_words() {
        for (text, fault) in [
            ("accounts", "malformed variable \"v\" value: \"accounts\""),
            ("", "malformed variable \"v\" value: \"\""),
            ("1e999", "malformed variable \"v\" value: \"1e999\""),
            ("1 ", "malformed variable \"v\" value: \"1 \""),
            ("-", "invalid input syntax for type bigint: \"-\""),
            (
                "9223372036854775808",
                "value \"9223372036854775808\" is out of range for type bigint",
            ),
        ] {
            assert_eq!(content(text), Err(fault.to_owned()), "{text}");
        }
    }
}
