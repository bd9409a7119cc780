//! The part of PostgreSQL's protocol that the hot path uses.
//!
//! Enters: statements to send, bytes received. Leaves: bytes to send, the few messages that the
//! engine uses. Never: opens a session (`pgassay_session` does) or keeps a row of a result.

mod failure;
mod fixed;
mod reader;
mod request;

pub use failure::{server_error, sqlstate};
pub use fixed::{COPY_REFUSAL, PIPELINE_ROLLBACK, ROLLBACK, SYNC, TERMINATE};
pub use reader::{Malformed, Message, Reader};
pub use request::{Request, SendMode};
