//! A connection to a server: its address, its socket, whole messages over it.
//!
//! Enters: an [`Endpoint`](endpoint::Endpoint). Leaves: a connected [`Stream`](stream::Stream). Never: authenticates.

pub(crate) mod cancel_key;
pub(crate) mod endpoint;
pub(crate) mod keepalive;
pub(crate) mod stream;
pub(crate) mod wire;
