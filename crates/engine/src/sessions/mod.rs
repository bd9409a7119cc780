//! The sessions of a load: opened before it begins, and replaced while it runs.
//!
//! Enters: the set-up of the load. Leaves: sessions with prepared statements. Never: runs a
//! transaction.

pub mod descriptors;
pub mod open;
pub mod reopen;
