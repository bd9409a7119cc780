//! The thread that reads the server's host, and the sources of its files.
//!
//! Enters: the files to read. Leaves: values as samples. Never: parses a file's format; that is
//! what [`files`](crate::files) does.

mod feed;
mod processes;
pub(crate) mod thread;
