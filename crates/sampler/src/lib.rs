//! Samplers that read a server and its host on a clock.
//!
//! Enters: a [`Configuration`] and, where there is a load, its board of running scenarios.
//! Leaves: columns of samples, warnings, and what the sampling itself cost. Never: interprets
//! a sample, writes to the server, or touches Python.

mod columns;
mod configuration;
mod cost;
mod counters;
mod error;
mod host;
mod link;
mod names;
mod proc;
mod recent;
mod sampler;
mod schedule;
mod shared;
mod waits;

pub use columns::{Values, Waits};
pub use configuration::{Configuration, CounterQuery, HostFiles, WaitsQuery};
pub use cost::Cost;
pub use error::SamplerError;
pub use names::NameId;
pub use sampler::Sampler;
