//! The key that cancels the statement of a session.
//!
//! Enters: the numbers that the server gave the session. Leaves: the message that cancels. Never:
//! shows the secret.

use std::fmt;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

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

/// Hides the secret, because with it anybody can cancel the statement.
impl fmt::Debug for CancelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelKey")
            .field("backend_pid", &self.backend_pid)
            .finish_non_exhaustive()
    }
}
