//! The content of a variable: an expression's result, or a text from outside.
//!
//! Enters: results of expressions, texts given with `-D` or read by `\gset`. Leaves: values for
//! expressions, text for SQL. Never: guesses; a text that is not a value is an error of the
//! script.

use pgassay_session::shown;

use super::expression::{Fault, Value};

#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Value(Value),
    /// Bytes in the client's encoding.
    Text(Vec<u8>),
}

impl Content {
    /// The value in an expression; a text is read by pgbench's rules. `name` is for the error.
    pub fn to_value(&self, name: &[u8]) -> Result<Value, Fault> {
        match self {
            Content::Value(value) => Ok(*value),
            Content::Text(text) => read(text, name),
        }
    }

    pub fn write_text(&self, output: &mut Vec<u8>) {
        match self {
            Content::Value(value) => value.write_text(output),
            Content::Text(text) => output.extend_from_slice(text),
        }
    }
}

fn read(text: &[u8], name: &[u8]) -> Result<Value, Fault> {
    let malformed = || {
        let (name, text) = (shown(name), shown(text));
        Fault::new(format!("malformed variable \"{name}\" value: \"{text}\""))
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
            Some(problem) => Fault::new(problem),
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
