//! Profiles of a server's processes: folded stacks, and what other programs read of them.
//!
//! Enters: the text of `perf script`, and who each process was. Leaves: folded stacks; of those
//! flame graphs (SVG), their differences, speedscope's JSON and pprof's protocol buffers. Never:
//! runs a program, reads a server, or uses Python.
//!
//! Decisions of this crate:
//!
//! - A folded stack begins with frames that are no functions: the kind of process, and of a session
//!   `scenario NAME` or `application NAME`. So every tool that reads folded stacks groups by them.
//! - The frames outside a process's own work (`main`, `PostmasterMain`, …) are dropped: how far
//!   out a stack can be followed depends on how much of it was copied, and the same work would
//!   otherwise stand in several places. A stack that never reaches them is marked as cut off.
//! - inferno draws; what it is given is free of control characters and of its own separators, and
//!   it escapes the rest.

mod drawing;
mod error;
mod fold;
mod frames;
mod pprof;
mod speedscope;
mod stacks;

pub use drawing::{Drawing, difference, flame_graph};
pub use error::ProfileError;
pub use fold::{Folded, Weighing, fold};
pub use pprof::pprof;
pub use speedscope::speedscope;
