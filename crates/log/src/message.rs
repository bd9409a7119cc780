//! What an entry of a session says.
//!
//! Enters: an entry. Leaves: [`Said`]. Never: copies a statement's text. Messages are read in
//! English, as a server with `lc_messages` of English or `C` writes them.

use crate::entry::{Entry, Severity};

/// A step of the protocol that a server logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Simple,
    Parse,
    Bind,
    Execute,
    /// A further part of a result that is fetched in parts.
    Fetch,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    Statement {
        step: Step,
        /// Of a prepared statement; empty where it has none.
        name: &'a [u8],
        text: &'a [u8],
        duration_us: Option<i64>,
    },
    /// `duration: …` of what was logged before.
    Duration(i64),
    /// The statement failed.
    Failed,
    Disconnected,
    Nothing,
}

const DURATION: &[u8] = b"duration: ";
const UNNAMED: &[u8] = b"<unnamed>";

pub(crate) fn said<'a>(entry: &'a Entry<'_>) -> Said<'a> {
    match entry.severity {
        Severity::Error | Severity::Fatal => return Said::Failed,
        Severity::Other => return Said::Nothing,
        Severity::Log => {}
    }
    let message: &[u8] = &entry.message;
    if let Some(rest) = message.strip_prefix(DURATION) {
        let Some((duration_us, rest)) = milliseconds(rest) else {
            return Said::Nothing;
        };
        return match rest.strip_prefix(b"  ") {
            Some(rest) => statement(rest, Some(duration_us)),
            None if rest.is_empty() => Said::Duration(duration_us),
            None => Said::Nothing,
        };
    }
    if message.starts_with(b"disconnection: ") {
        return Said::Disconnected;
    }
    statement(message, None)
}

fn statement(message: &[u8], duration_us: Option<i64>) -> Said<'_> {
    if let Some(text) = message.strip_prefix(b"statement: ") {
        return Said::Statement {
            step: Step::Simple,
            name: b"",
            text,
            duration_us,
        };
    }
    let steps: [(&[u8], Step); 4] = [
        (b"execute fetch from ", Step::Fetch),
        (b"execute ", Step::Execute),
        (b"bind ", Step::Bind),
        (b"parse ", Step::Parse),
    ];
    for (word, step) in steps {
        let Some(rest) = message.strip_prefix(word) else {
            continue;
        };
        let Some(colon) = memchr::memmem::find(rest, b": ") else {
            break;
        };
        let name = rest[..colon].split(|byte| *byte == b'/').next();
        let name = name.filter(|name| *name != UNNAMED).unwrap_or_default();
        return Said::Statement {
            step,
            name,
            text: &rest[colon + 2..],
            duration_us,
        };
    }
    Said::Nothing
}

/// `0.123 ms` as microseconds, and what follows.
fn milliseconds(text: &[u8]) -> Option<(i64, &[u8])> {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let value = |text: &[u8]| {
        text.iter()
            .fold(0_i64, |sum, byte| sum * 10 + i64::from(byte - b'0'))
    };
    let whole = digits(text);
    let rest = text[whole..].strip_prefix(b".")?;
    if whole == 0 || whole > 15 || digits(rest) != 3 {
        return None;
    }
    let duration_us = value(&text[..whole]) * 1000 + value(&rest[..3]);
    Some((duration_us, rest[3..].strip_prefix(b" ms")?))
}

/// One value of a `DETAIL: Parameters: …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given<'a> {
    Null,
    /// As it was logged, with each quote doubled.
    Text(&'a [u8]),
}

/// Reads `Parameters: $1 = '…', $2 = NULL`; calls `each` in order. False if it is something else.
pub(crate) fn parameters<'a>(detail: &'a [u8], mut each: impl FnMut(Given<'a>)) -> bool {
    let Some(mut rest) = detail
        .strip_prefix(b"Parameters: ")
        .or_else(|| detail.strip_prefix(b"parameters: "))
    else {
        return false;
    };
    loop {
        let Some(sign) = memchr::memmem::find(rest, b" = ") else {
            return false;
        };
        if rest[0] != b'$' || !rest[1..sign].iter().all(u8::is_ascii_digit) {
            return false;
        }
        rest = &rest[sign + 3..];
        if let Some(after) = rest.strip_prefix(b"NULL") {
            each(Given::Null);
            rest = after;
        } else if let Some(text) = rest.strip_prefix(b"'") {
            let mut at = 0;
            loop {
                let Some(quote) = memchr::memchr(b'\'', &text[at..]) else {
                    return false;
                };
                at += quote;
                if text.get(at + 1) != Some(&b'\'') {
                    break;
                }
                at += 2;
            }
            each(Given::Text(&text[..at]));
            rest = &text[at + 1..];
        } else {
            return false;
        }
        match rest.strip_prefix(b", ") {
            Some(further) if !further.is_empty() => rest = further,
            _ => return rest.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(detail: &str) -> Option<Vec<Option<String>>> {
        let mut values = Vec::new();
        let whole = parameters(detail.as_bytes(), |given| {
            values.push(match given {
                Given::Null => None,
                Given::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            });
        });
        whole.then_some(values)
    }

    #[test]
    fn parameters_are_read_in_both_spellings() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            read("Parameters: $1 = '7', $2 = NULL, $3 = 'it''s, $4 = ''x'''"),
            Some(vec![text("7"), None, text("it''s, $4 = ''x''")])
        );
        assert_eq!(read("parameters: $1 = ''"), Some(vec![text("")]));
        assert_eq!(read("parameters: $1 = 'cut"), None);
        assert_eq!(read("prepare: PREPARE p AS SELECT 1"), None);
    }

    #[test]
    fn statements_are_read_with_their_step() {
        let said = statement(b"execute <unnamed>/C_1: SELECT 1: 2", None);
        let expected = Said::Statement {
            step: Step::Execute,
            name: b"",
            text: b"SELECT 1: 2",
            duration_us: None,
        };
        assert_eq!(said, expected);
        assert_eq!(
            milliseconds(b"12.345 ms  statement"),
            Some((12_345, &b"  statement"[..]))
        );
        assert_eq!(milliseconds(b"1e5 ms"), None);
    }
}
