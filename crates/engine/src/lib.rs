//! The load engine: runs pgbench scripts on many connections and counts what they do.
//!
//! Enters: a configuration (JSON). Leaves: counts, histograms and progress. Never: decides what
//! to run, writes a file, or knows of Python.

mod client;
mod config;
mod connect;
mod descriptors;
mod error;
mod load;
mod messages;
mod mix;
mod network;
mod outcome;
mod program;
mod progress;
mod random;
mod record;
mod result;
mod schedule;
mod script;
mod worker;

pub use error::EngineError;
pub use load::{Load, Progress};
pub use outcome::{Intervals, Outcome};
pub use script::check_script;
