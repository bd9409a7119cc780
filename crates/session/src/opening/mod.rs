//! The way from an endpoint to an idle session: TLS, authentication, start-up.
//!
//! Enters: an [`Endpoint`](crate::Endpoint). Leaves: a [`Session`](crate::Session). Never: runs a
//! statement.

mod authenticate;
mod cancel;
pub(crate) mod connector;
mod failure;
mod messages;
mod require_auth;
pub(crate) mod session;
