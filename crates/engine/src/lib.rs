//! The load engine: runs pgbench scripts on many connections and counts what they do.
//!
//! Enters: a configuration (JSON). Leaves: counts, histograms and progress. Never: decides what
//! to run, writes a file but the transaction logs asked for, or knows of Python.

mod arrivals;
mod client;
mod config;
mod connect;
mod descriptors;
mod error;
mod load;
mod log;
mod messages;
mod mix;
mod network;
mod outcome;
mod program;
mod progress;
mod random;
mod record;
mod reopen;
mod result;
mod running;
mod schedule;
mod script;
mod setup;
mod timers;
mod variant;
mod worker;

pub use error::EngineError;
pub use load::{Load, Progress};
pub use outcome::{Intervals, Outcome};
pub use script::check_script;
