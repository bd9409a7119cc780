//! The load engine: runs pgbench scripts on many connections and counts what they do.
//!
//! Enters: a configuration (JSON). Leaves: counts, histograms and progress. Never: decides what
//! to run, writes a file other than requested transaction logs, or knows of Python.
//!
//! Rooms of this crate, each of which uses those before it:
//!
//! - `script`, `random`: the script language; random numbers, and which scenario is next.
//! - `network`: io_uring or epoll.
//! - `config`, `schedule`: what is asked for; steps, arrivals and timers.
//! - `parameters`: rows of files, which transactions take as variables.
//! - `messages`, `program`: the protocol; scripts as requests.
//! - `record`, `log`: counts of transactions; files of pgbench's format.
//! - `setup`, `sessions`: what all threads share; opening sessions.
//! - `client`, `worker`: one connection; one thread with its clients.
//! - `replay`: a trace instead of scripts, by the same sessions, network and counts.
//! - `outcome`: what all workers, and all engines of a load, counted: as rows, JSON and bytes.
//!
//! Decisions of this crate:
//!
//! - One transport interface, based on completions, has two backends that pass the same contract
//!   tests: io_uring where the process may use it, else epoll. TLS uses epoll, because rustls must
//!   know when a socket is readable, which io_uring's receives do not report. If all first
//!   sessions have no TLS under io_uring, later ones do not ask for it.
//! - `auto` takes io_uring from Linux 6.15 on: older kernels count a thread that waits for
//!   io_uring as waiting for a disk, so the engine's idle time would appear as iowait and I/O
//!   pressure of the host, in figures that explain a run.
//! - Busy polling is on only where the client has its own processors: there an idle core
//!   costs the server an interrupt per answer; on shared processors polling takes time from the
//!   server.
//! - Waits shorter than a millisecond poll the epoll set: nanoseconds on every kernel, where
//!   epoll_pwait2 needs Linux 5.11.
//! - Describe is sent with every execution, as libpq does, so that comparisons with pgbench are
//!   fair.
//! - Scripts draw pgbench's random numbers, by its generator and its way of seeding, so that a
//!   script can be compared with pgbench value by value.
//! - A transaction's row of parameters is drawn from a sequence of the client's own, apart from those
//!   of its scripts and scenarios; in sequence all clients share one counter. A retry restores the
//!   variables, so it has the same row.
//! - Texts of a scenario with parameters' failures that may show a value are left out by the client,
//!   before anything keeps, logs or prints them.
//! - Arrivals of an open loop are one queue: all threads claim from one seeded sequence under a
//!   lock held for nanoseconds. Idle connections claim ahead and wait, so no arrival waits
//!   while a connection is idle, and the sequence does not depend on the number of threads.
//! - Engines that run shares of one load derive everything from the whole of it and draw all of its
//!   arrivals, each taking its own: so they need not speak with each other, and a client does the
//!   same whichever engine has it.
//! - Reports of engines merge by their place in the schedule, not by time, because the clocks of hosts
//!   differ; one engine's result is made of its report in the same way.
//! - A transaction belongs to the step in which it ends, and to the slice in which it began and
//!   ended; one that crosses the edge of a slice has a row for itself, so that sums stay whole.
//! - Before a slice, a session sets or resets every setting that any variant sets, and discards
//!   plans: no setting and no cached generic plan lasts into the slices of another variant.
//! - A script that sleeps is inside its transaction: edges of steps and slices do not wake it,
//!   and its connection is watched meanwhile.
//! - A pipeline counts as one statement: its `\\endpipeline` has the latency, failures and
//!   retries, because the client waits for none of its statements alone.
//! - Command latencies (-r) are kept to 1 %, because a script may have thousands of commands;
//!   without -r no command reads the clock.
//! - Sessions that are opened during the load are opened by helper threads: name resolution,
//!   TLS and authentication block, and the other clients of a worker must not wait.

mod client;
mod config;
mod error;
mod load;
mod log;
mod messages;
mod network;
mod outcome;
mod parameters;
mod program;
mod progress;
mod random;
mod record;
mod replay;
mod schedule;
mod script;
mod sessions;
mod setup;
mod worker;

pub use error::EngineError;
pub use load::Load;
pub use outcome::{Intervals, LEADING_BITS, Merging, Outcome};
pub use parameters::{ColumnPart, Kind, Rows, RowsProblem};
pub use progress::Progress;
pub use replay::{Columns, Figures, Replay, Texts};
pub use script::{check_script, check_sql, script_statements};
