//! The errors of a session.
//!
//! Enters: what failed, and ErrorResponse messages. Leaves: one-line messages that name
//! the server and the fix. Never: a password, a second line.

use std::fmt;
use std::time::Duration;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorResponseBody;

use crate::shown;
use crate::tls::SslMode;

/// A session that could not be opened, or that broke.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    #[error("cannot use the connection to {place}: {problem}")]
    Endpoint { place: String, problem: String },

    #[error("cannot reach PostgreSQL at {place}: {problem}; check that it runs and listens there")]
    Unreachable { place: String, problem: String },

    #[error(
        "PostgreSQL at {place} did not answer within {} s; check the host, or raise connect_timeout (PGCONNECT_TIMEOUT)",
        after.as_secs_f64()
    )]
    ConnectTimedOut { place: String, after: Duration },

    #[error(
        "PostgreSQL at {place} does not offer TLS, and sslmode={sslmode} needs it; turn on ssl there, or use sslmode=prefer or disable"
    )]
    NoTls { place: String, sslmode: SslMode },

    #[error("no TLS with PostgreSQL at {place}: {problem}")]
    Tls { place: String, problem: String },

    /// Neither the attempt with TLS nor the one without, both of which sslmode allows, succeeded.
    #[error("{last}; before that: {first}")]
    Both {
        first: Box<SessionError>,
        last: Box<SessionError>,
    },

    #[error("PostgreSQL at {place} refused the session: {error}{}", advice(error))]
    Refused {
        place: String,
        error: Box<ServerError>,
    },

    #[error(
        "PostgreSQL at {place} asks for a password and none is given; set PGPASSWORD or ~/.pgpass"
    )]
    PasswordMissing { place: String },

    #[error(
        "PostgreSQL at {place} asks for {method}, which pgassay cannot do; allow trust, md5 or scram-sha-256 in pg_hba.conf"
    )]
    Authentication { place: String, method: String },

    #[error("PostgreSQL at {place} does not meet {rule}: {problem}")]
    Demand {
        place: String,
        rule: String,
        problem: String,
    },

    #[error("PostgreSQL at {place} failed to prove that it knows the password: {problem}")]
    Untrusted { place: String, problem: String },

    #[error("the server at {place} does not speak PostgreSQL's protocol: {problem}")]
    Protocol { place: String, problem: String },

    #[error("the connection to {place} was lost: {problem}")]
    Lost { place: String, problem: String },

    #[error("PostgreSQL at {place} did not answer a query in time")]
    QueryTimedOut { place: String },

    #[error("PostgreSQL at {place}: {error}")]
    Query {
        place: String,
        error: Box<ServerError>,
    },
}

impl SessionError {
    /// The server's SQLSTATE, where the server refused.
    #[must_use]
    pub fn sqlstate(&self) -> Option<&str> {
        self.server_error().map(|error| error.sqlstate.as_str())
    }

    /// The server's error message, if it sent one.
    #[must_use]
    pub fn server_error(&self) -> Option<&ServerError> {
        match self {
            SessionError::Refused { error, .. } | SessionError::Query { error, .. } => Some(error),
            SessionError::Both { first, last } => {
                last.server_error().or_else(|| first.server_error())
            }
            _ => None,
        }
    }

    /// Whether the session cannot be used again: true for all errors but a refused query.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        match self {
            SessionError::Query { error, .. } => error.is_fatal(),
            _ => true,
        }
    }
}

impl SessionError {
    /// The error of the second attempt, with that of the first if they differ.
    pub(crate) fn after(first: Option<SessionError>, last: SessionError) -> SessionError {
        match first {
            None => last,
            Some(first) if first.sqlstate().is_some() && first.sqlstate() == last.sqlstate() => {
                last
            }
            Some(first) => SessionError::Both {
                first: Box::new(first),
                last: Box::new(last),
            },
        }
    }
}

fn advice(error: &ServerError) -> &'static str {
    match error.sqlstate.as_str() {
        "28P01" => "; check the user and the password",
        "28000" => "; check the user, and that pg_hba.conf lets it in from here with this sslmode",
        "3D000" => "; create the database or name another",
        "53300" => "; raise max_connections or open fewer connections",
        "57P03" => "; wait until the server is ready",
        _ => "",
    }
}

/// Characters of a text of the server that are shown.
const LONGEST_TEXT: usize = 2000;

/// An ErrorResponse of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// ERROR, FATAL or PANIC, in English whatever `lc_messages` is.
    pub severity: String,
    pub sqlstate: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
}

impl ServerError {
    /// Parses an ErrorResponse; fields that cannot be read stay empty.
    #[must_use]
    pub fn parse(body: &ErrorResponseBody) -> ServerError {
        let mut error = ServerError {
            severity: String::new(),
            sqlstate: String::new(),
            message: String::new(),
            detail: None,
            hint: None,
        };
        let mut fields = body.fields();
        // The fields before the cut of a truncated message are still used.
        while let Ok(Some(field)) = fields.next() {
            // A message may be in any encoding.
            let value = || shown(field.value_bytes()).into_owned();
            match field.type_() {
                b'S' if error.severity.is_empty() => error.severity = value(),
                b'V' => error.severity = value(),
                b'C' => error.sqlstate = value(),
                b'M' => error.message = value(),
                b'D' => error.detail = Some(value()),
                b'H' => error.hint = Some(value()),
                _ => {}
            }
        }
        error
    }

    /// Whether the server ends the session with this error.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_line(f, or(&self.severity, "ERROR"))?;
        f.write_str(" ")?;
        write_line(f, or(&self.sqlstate, "XX000"))?;
        f.write_str(": ")?;
        write_line(f, or(&self.message, "no message"))?;
        for (name, text) in [("detail", &self.detail), ("hint", &self.hint)] {
            if let Some(text) = text {
                write!(f, " ({name}: ")?;
                write_line(f, text)?;
                write!(f, ")")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ServerError {}

/// A field of an error, or what stands for one that the server left out.
fn or<'a>(field: &'a str, other: &'a str) -> &'a str {
    if field.is_empty() { other } else { field }
}

/// Writes `text` as one line, cut where it is longer than anybody reads.
fn write_line(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
        write_line(f, text.get(..end).unwrap_or_default())?;
        return f.write_str("…");
    }
    for (n, word) in text.split_whitespace().enumerate() {
        if n > 0 {
            f.write_str(" ")?;
        }
        f.write_str(word)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use postgres_protocol::message::backend::Message;
    use proptest::prelude::*;

    use super::*;

    fn parse(fields: &[u8]) -> ServerError {
        let mut bytes = BytesMut::new();
        bytes.extend_from_slice(b"E");
        bytes.extend_from_slice(&u32::try_from(fields.len() + 4).unwrap().to_be_bytes());
        bytes.extend_from_slice(fields);
        match Message::parse(&mut bytes) {
            Ok(Some(Message::ErrorResponse(body))) => ServerError::parse(&body),
            _ => panic!("not an ErrorResponse"),
        }
    }

    #[test]
    fn fields_are_taken_by_their_letter() {
        let error = parse(
            b"S\xd0\x9e\0VERROR\0C42P01\0Mrelation \"t\"\ndoes not exist\0Hcreate it\0Fparse.c\0\0",
        );
        assert_eq!(error.severity, "ERROR");
        assert_eq!(error.sqlstate, "42P01");
        assert!(!error.is_fatal());
        assert_eq!(
            error.to_string(),
            "ERROR 42P01: relation \"t\" does not exist (hint: create it)"
        );
    }

    #[test]
    fn a_refusal_says_what_to_do_and_keeps_its_sqlstate() {
        let error = SessionError::Refused {
            place: "h:1".into(),
            error: Box::new(parse(
                b"VFATAL\0C28P01\0Mpassword authentication failed\0\0",
            )),
        };
        assert_eq!(error.sqlstate(), Some("28P01"));
        assert!(
            error
                .to_string()
                .ends_with("check the user and the password")
        );
        assert!(error.is_fatal());
    }

    #[test]
    fn an_error_without_fields_and_one_without_end_are_one_short_line() {
        assert_eq!(parse(b"\0").to_string(), "ERROR XX000: no message");
        let long = parse(&[b"SFATAL\0C57P01\0M", &[b'x'; 60_000][..], b"\0\0"].concat());
        assert!(long.to_string().chars().count() < LONGEST_TEXT + 20);
    }

    proptest! {
        #[test]
        fn any_bytes_make_some_error(fields in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&fields).to_string();
        }
    }
}
