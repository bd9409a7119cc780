//! Samplers that read a server and its host on a clock.
//!
//! Enters: a [`Configuration`] and, where there is a load, its board of running scenarios.
//! Leaves: columns of samples, warnings, and what the sampling itself cost. Never: interprets
//! a sample, writes to the server, or touches Python.

mod backoff;
mod cgroup;
mod columns;
mod configuration;
mod cost;
mod counters;
mod error;
mod feed;
mod feed_pipe;
mod feed_sql;
mod format;
mod host;
mod link;
mod names;
mod network;
mod proc;
mod processes;
mod recent;
mod sampler;
mod schedule;
mod server_clock;
mod shared;
mod thinning;
mod waits;

pub use columns::{Values, Waits};
pub use configuration::{Configuration, CounterQuery, Format, HostFile, HostFiles, WaitsQuery};
pub use cost::Cost;
pub use error::SamplerError;
pub use names::NameId;
pub use sampler::Sampler;
