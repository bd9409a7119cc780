//! Reads the server's error message for a failed statement.
//!
//! Enters: the fields of an ErrorResponse. Leaves: its SQLSTATE, or all fields. Never: fails; what
//! cannot be read counts as an internal error of the server.

use bytes::BytesMut;
use pgassay_session::ServerError;
use postgres_protocol::message::backend;

/// The SQLSTATE in the fields of an ErrorResponse.
#[must_use]
pub fn sqlstate(fields: &[u8]) -> [u8; 5] {
    fields
        .split(|&byte| byte == 0)
        .find_map(|field| <[u8; 5]>::try_from(field.strip_prefix(b"C")?).ok())
        .filter(|code| code.iter().all(u8::is_ascii_alphanumeric))
        .unwrap_or(*b"XX000")
}

/// The fields as a whole.
#[must_use]
pub fn server_error(fields: &[u8]) -> Option<ServerError> {
    let length = u32::try_from(fields.len() + 4).ok()?;
    let mut bytes = BytesMut::with_capacity(fields.len() + 5);
    bytes.extend_from_slice(b"E");
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(fields);
    match backend::Message::parse(&mut bytes) {
        Ok(Some(backend::Message::ErrorResponse(body))) => Some(ServerError::parse(&body)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sqlstate_is_found_among_the_fields() {
        assert_eq!(sqlstate(b"SERROR\0VERROR\0C40001\0Mno\0\0"), *b"40001");
        assert_eq!(sqlstate(b"SERROR\0C4\0\0"), *b"XX000");
        assert_eq!(sqlstate(b"SERROR\0C4\x1b[1m\0\0"), *b"XX000");
        assert_eq!(sqlstate(b""), *b"XX000");
    }

    #[test]
    fn an_error_is_taken_apart() {
        let error = server_error(b"VERROR\0C40001\0Mcould not serialize\0\0").unwrap();
        assert_eq!(error.to_string(), "ERROR 40001: could not serialize");
    }
}
