//! Time limits of socket operations.
//!
//! Enters: a deadline. Leaves: the time that is left. Never: waits.

use std::io;
use std::time::{Duration, Instant};

/// The remaining time, never zero: a zero timeout means "for ever" to the kernel.
pub(crate) fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left < Duration::from_millis(1) {
        Err(io::ErrorKind::TimedOut.into())
    } else {
        Ok(left)
    }
}

/// Whether a socket's time limit passed.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
