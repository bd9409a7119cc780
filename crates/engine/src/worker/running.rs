//! Counts the workers of a load that still run.
//!
//! Enters: starts and ends of workers, panics included. Leaves: notice that all have ended.
//! Never: knows what they do.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of running workers, and a condition variable for its changes.
#[derive(Default)]
pub struct Running {
    workers: Mutex<usize>,
    changed: Condvar,
}

/// Counts one worker from before its thread starts until it ends, even by a panic.
pub struct RunningGuard(Arc<Running>);

impl RunningGuard {
    #[must_use]
    pub fn new(running: &Arc<Running>) -> RunningGuard {
        *running.count() += 1;
        RunningGuard(Arc::clone(running))
    }
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        let mut count = self.0.count();
        *count = count.saturating_sub(1);
        self.0.changed.notify_all();
    }
}

impl Running {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no worker runs, at most `timeout`; false if some still do.
    #[must_use]
    pub fn wait_for_none(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut count = self.count();
        while *count > 0 {
            let left = match deadline {
                Some(deadline) => deadline.saturating_duration_since(Instant::now()),
                None => Duration::from_secs(3600),
            };
            if left.is_zero() {
                return false;
            }
            count = match self.changed.wait_timeout(count, left) {
                Ok((count, _)) => count,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        true
    }
}
