//! One authenticated PostgreSQL session, and the other parts that engine and sampler share.
//!
//! Enters: an [`Endpoint`]. Leaves: an idle session, as a blocking [`client::Client`] or as the
//! bare [`Stream`] for an event loop. Never: pools, reconnects or measures.

mod authenticate;
pub mod board;
mod cancel;
pub mod client;
pub mod clock;
mod connector;
mod endpoint;
mod error;
mod keepalive;
mod opening;
mod require_auth;
mod row;
mod session;
mod stream;
pub mod tls;
mod wire;

pub use cancel::CancelKey;
pub use connector::Connector;
pub use endpoint::Endpoint;
pub use error::{ServerError, SessionError};
pub use keepalive::Keepalive;
pub use session::Session;
pub use stream::Stream;
