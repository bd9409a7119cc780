//! Samplers that read a server and its host on a clock.
//!
//! Enters: a [`Configuration`] and, where there is a load, its board of running scenarios.
//! Leaves: columns of samples, warnings, and the cost of sampling. Never: interprets a sample,
//! writes to the server, or uses Python.
//!
//! Rooms of this crate:
//!
//! - `server`: the threads that read waits and counters, and their connections.
//! - `host`: the thread that reads the host, and the feeds of its files.
//! - `files`: the formats of the host's files.
//! - `samples`: columns of samples, and the latest readings.
//!
//! Decisions of this crate:
//!
//! - Counter queries are data: any SQL whose text columns label a row and whose numeric columns
//!   are counters. A new view needs only a new `.sql` file.
//! - Which scenario a backend runs is read from a lock-free board that the engine writes, when
//!   the rows of a sample arrive. There is no `SET application_name` per transaction and no
//!   guess from query texts.
//! - A row that repeats the one before is not stored, except the last of them: most counters
//!   stand still most of the time, and a line through the stored rows still passes through
//!   every reading.
//! - Files of a host come from a feed: this machine, a program that answers through pipes, or a
//!   query. Parsers do not know which. A reading from another machine is dated by the middle of
//!   its round trip, so no foreign clock is needed.
//! - The server's processes are summed by kind as they go: a sum over living processes would
//!   fall whenever one ends.
//! - After a slow answer a sampler pauses (`busy_share`) only in observations: in a trial the
//!   moments around a stall are the ones that matter.
//! - The live view is summed as samples are read, so that it takes no row from the record and
//!   costs one small JSON a second.

mod configuration;
mod cost;
mod error;
mod files;
mod host;
mod sampler;
mod samples;
mod schedule;
mod server;
mod shared;

pub use configuration::{Configuration, CounterQuery, HostFile, HostFiles, WaitsQuery};
pub use cost::Cost;
pub use error::SamplerError;
pub use files::Format;
pub use sampler::Sampler;
pub use samples::columns::{Values, Waits};
pub use samples::names::NameId;
