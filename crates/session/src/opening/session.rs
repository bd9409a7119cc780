//! An authenticated session on which no statement runs.
//!
//! Enters: a connected stream and an [`Endpoint`]. Leaves: an authenticated, idle [`Session`].
//! Never: waits longer than the endpoint's connect timeout.

use std::collections::HashMap;

use crate::connection::cancel_key::CancelKey;
use crate::connection::wire::Wire;
use crate::opening::authenticate::authenticate;
use crate::opening::messages::Opening;
use crate::{Endpoint, SessionError, Stream};

/// An open session on which no query runs.
pub struct Session {
    wire: Wire,
    place: String,
    key: CancelKey,
    parameters: HashMap<String, String>,
}

impl Session {
    /// Sends the start-up message, authenticates, and waits until the server is ready.
    pub(crate) fn establish(
        mut wire: Wire,
        endpoint: &Endpoint,
        application_name: &str,
    ) -> Result<Session, Failure> {
        let mut opening = Opening::new(&mut wire, endpoint);
        opening.start_up(application_name)?;
        authenticate(&mut opening, endpoint).map_err(|error| Failure {
            // pg_hba.conf may refuse a user with TLS and admit the same user without, or vice versa.
            is_worth_another: matches!(error, SessionError::Refused { .. }),
            error,
        })?;
        let (key, parameters) = opening.await_ready()?;
        wire.stream
            .set_timeout(None)
            .map_err(|error| SessionError::Lost {
                place: endpoint.to_string(),
                problem: error.to_string(),
            })?;
        Ok(Session {
            wire: Wire::new(wire.stream, None),
            place: endpoint.to_string(),
            key,
            parameters,
        })
    }

    /// The process id of the backend, as `pg_stat_activity` shows it.
    #[must_use]
    pub fn backend_pid(&self) -> i32 {
        self.key.backend_pid
    }

    /// The key for a request to cancel this session's statement.
    #[must_use]
    pub fn cancel_key(&self) -> CancelKey {
        self.key
    }

    /// A parameter that the server reported at the start, such as `server_version`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// The bare stream, blocking. Asynchronous messages of the server are still unread in it.
    #[must_use]
    pub fn into_stream(self) -> Stream {
        self.wire.stream
    }

    pub(crate) fn into_parts(self) -> (Wire, String, i32) {
        (self.wire, self.place, self.key.backend_pid)
    }
}

/// Why an attempt with or without TLS failed, and whether libpq would then try the other.
pub(crate) struct Failure {
    pub(crate) error: SessionError,
    pub(crate) is_worth_another: bool,
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Failure {
        Failure {
            error,
            is_worth_another: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    /// A connection on which the server sent these bytes and then hung up.
    fn wire_after(bytes: &[u8]) -> (Wire, UnixStream) {
        let (ours, mut server) = UnixStream::pair().unwrap();
        server.write_all(bytes).unwrap();
        server.shutdown(std::net::Shutdown::Write).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        (Wire::new(Stream::Unix(ours), Some(deadline)), server)
    }

    /// Bytes that resemble protocol messages more often than random bytes do.
    fn server_messages() -> impl Strategy<Value = Vec<u8>> {
        let message = (
            prop::sample::select(&b"RRRRSKZENTDCvXA1n"[..]),
            prop::collection::vec(any::<u8>(), 0..40),
            prop::option::weighted(0.1, any::<u32>()),
            prop::option::weighted(0.5, prop::sample::select(vec![0u32, 3, 5, 7, 10, 11, 12])),
        )
            .prop_map(|(tag, mut body, length, code)| {
                if let Some(code) = code {
                    body.splice(0..0, code.to_be_bytes());
                }
                let length = length.unwrap_or(u32::try_from(body.len() + 4).unwrap());
                [&[tag][..], &length.to_be_bytes(), &body].concat()
            });
        prop::collection::vec(message, 0..8).prop_map(|messages| messages.concat())
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_end_in_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let (mut wire, _server) = wire_after(&bytes);
            while wire.receive().is_ok() {}
        }

        #[test]
        fn opening_a_session_ends_whatever_the_server_sends(bytes in server_messages()) {
            let (wire, _server) = wire_after(&bytes);
            let endpoint: Endpoint = serde_json::from_str(
                r#"{"host": "/h", "port": 1, "user": "u", "password": "p", "dbname": "d"}"#,
            )
            .unwrap();
            let _ = Session::establish(wire, &endpoint, "fuzz");
        }
    }
}
