//! Cancels the statement of another session.
//!
//! Enters: the key that the server gave that session. Leaves: nothing; the statement, if there
//! is one, ends with an error. Never: says whether there was one: the server does not report it.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::connection::cancel_key::CancelKey;
use crate::deadline::time_left;
use crate::{Connector, SessionError};

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
