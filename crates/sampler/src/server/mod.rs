//! The threads that read the server, and their connections.
//!
//! Enters: queries and their intervals. Leaves: waits and counters as samples. Never: reads a file
//! of the host.

pub(crate) mod backoff;
pub(crate) mod counters;
pub(crate) mod link;
mod server_clock;
pub(crate) mod waits;
