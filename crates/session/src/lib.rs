//! One authenticated PostgreSQL session, and the other parts that engine and sampler share.
//!
//! Enters: an [`Endpoint`]. Leaves: an idle session, as a blocking [`client::Client`] or as the
//! bare [`Stream`] for an event loop. Never: pools, reconnects or measures.
//!
//! Rooms of this crate:
//!
//! - `connection`: addresses, sockets, whole messages.
//! - `tls`: TLS under libpq's rules.
//! - `opening`: from an endpoint to an authenticated session.
//! - `client`: blocking queries.

pub mod board;
pub mod client;
pub mod clock;
mod connection;
mod deadline;
mod error;
mod opening;
mod text;
pub mod tls;

pub use connection::cancel_key::CancelKey;
pub use connection::endpoint::Endpoint;
pub use connection::keepalive::Keepalive;
pub use connection::stream::Stream;
pub use error::{ServerError, SessionError};
pub use opening::connector::Connector;
pub use opening::session::Session;
pub use text::shown;
