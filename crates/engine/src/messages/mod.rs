//! PostgreSQL's protocol as the hot path needs it.
//!
//! Enters: statements to send, bytes received. Leaves: bytes to send, the few messages that
//! matter. Never: opens a session (`pgassay_session` does) or keeps a row of a result.

mod failure;
mod reader;
mod request;

pub use failure::{server_error, sqlstate};
pub use reader::{Malformed, Message, Reader};
pub use request::{COPY_REFUSAL, Mode, PIPELINE_ROLLBACK, ROLLBACK, Request, SYNC, TERMINATE};
