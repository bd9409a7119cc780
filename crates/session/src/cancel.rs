//! Cancels the statement of another session.
//!
//! Enters: the key that the server gave that session. Leaves: nothing; the statement, if there
//! is one, ends with an error. Never: says whether there was one: the server does not report it.

use std::fmt;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::stream::time_left;
use crate::{Connector, SessionError};

/// The key that the server requires before it cancels a session's statement.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct CancelKey {
    pub(crate) backend_pid: i32,
    secret: i32,
}

impl CancelKey {
    pub(crate) fn new(backend_pid: i32, secret: i32) -> CancelKey {
        CancelKey {
            backend_pid,
            secret,
        }
    }

    /// The first message of a connection that cancels instead of opening a session.
    pub(crate) fn request(self) -> BytesMut {
        let mut request = BytesMut::new();
        frontend::cancel_request(self.backend_pid, self.secret, &mut request);
        request
    }
}

impl Connector {
    /// Asks the server to cancel a session's statement, over a second connection opened with the
    /// same parameters; returns when the server has taken the request, or after `patience`.
    pub fn cancel(&self, key: CancelKey, patience: Duration) -> Result<(), SessionError> {
        let deadline = Instant::now() + patience;
        let mut stream = self.connect(deadline)?;
        let exchange = time_left(deadline)
            .and_then(|left| stream.set_timeout(Some(left)))
            .and_then(|()| stream.write_all(&key.request()))
            .and_then(|()| stream.flush())
            // The server closes the connection once it has sent the signal.
            .and_then(|()| stream.read(&mut [0]));
        exchange.map(|_| ()).map_err(|error| SessionError::Lost {
            place: self.endpoint().to_string(),
            problem: format!("while cancelling a statement: {error}"),
        })
    }
}

/// Hides the secret, because with it anybody can cancel the statement.
impl fmt::Debug for CancelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelKey")
            .field("backend_pid", &self.backend_pid)
            .finish_non_exhaustive()
    }
}
