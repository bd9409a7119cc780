//! How many workers of a load still run.
//!
//! Enters: their beginnings and ends, however they end. Leaves: word that none is left. Never:
//! knows what they do.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many workers run, and a bell for those who wait for none.
#[derive(Default)]
pub struct Running {
    workers: Mutex<usize>,
    changed: Condvar,
}

/// One running worker, counted from before its thread begins until it ends, however it ends.
pub struct Present(Arc<Running>);

impl Present {
    #[must_use]
    pub fn new(running: &Arc<Running>) -> Present {
        *running.count() += 1;
        Present(Arc::clone(running))
    }
}

impl Drop for Present {
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

    /// Whether none runs any more, after at most `timeout`.
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
