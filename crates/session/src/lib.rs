//! One authenticated PostgreSQL session, and what the engine and the sampler share besides it.
//!
//! Enters: an [`Endpoint`]. Leaves: an idle session, as a blocking [`client::Client`] or as the
//! bare [`Stream`] for an event loop. Never: TLS, pooling, reconnecting, measuring.

mod authenticate;
pub mod board;
mod cancel;
pub mod client;
pub mod clock;
mod connect;
mod endpoint;
mod error;
mod row;
mod stream;
mod wire;

pub use cancel::CancelKey;
pub use connect::Session;
pub use endpoint::Endpoint;
pub use error::{ServerError, SessionError};
pub use stream::Stream;
