//! Samples in columns, from a reading until the owner takes them.
//!
//! Enters: values as they are read. Leaves: columns without repeated values, and the latest
//! readings for the live view. Never: reads anything.

pub(crate) mod columns;
pub(crate) mod names;
pub(crate) mod recent;
pub(crate) mod thinning;
