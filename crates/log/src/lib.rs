//! A server's log as a workload: transactions with their values, or every statement in order.
//!
//! Enters: the bytes of csvlog, jsonlog or stderr. Leaves: scenarios with samples of the rows of
//! values that occurred together, or columns of a trace. Never: opens a file, parses SQL, or uses
//! Python.
//!
//! Decisions of this crate:
//!
//! - SQL is scanned, not parsed: constants become parameters, so that a parser sees each template
//!   once (`lexer`).
//! - Everything that is held has a limit: templates, sequences, rows, statements of a transaction.
//!   What is beyond it is counted as lost, with its time.
//! - A session is known by its process until that process has another session.
//! - Times have the log's own zone and its resolution, a millisecond: they are compared with each
//!   other only.

mod call;
mod counts;
mod entry;
mod error;
mod forms;
mod lexer;
mod message;
mod reader;
mod scenarios;
mod sessions;
mod stamp;
mod templates;
mod trace;
mod transactions;

pub use error::LogError;
pub use reader::Reader;
pub use scenarios::Column;
pub use trace::{Rows, Texts};
