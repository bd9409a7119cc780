//! The state that the sampler's threads and its owner share.
//!
//! Enters: samples, warnings and costs from the threads. Leaves: the same to the owner, on
//! request. Never: holds a lock while a server or a file is read.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pgassay_session::board::Board;

use crate::configuration::HostFiles;
use crate::cost::Costs;
use crate::samples::columns::Ticks;
use crate::samples::recent::Recent;
use crate::samples::thinning::Thinned;

#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) board: Option<Arc<Board>>,
    pub(crate) stop: Stop,
    pub(crate) warnings: Warnings,
    pub(crate) costs: Costs,
    pub(crate) recent: Recent,
    pub(crate) busy_share: Option<f64>,
    waits: Mutex<Ticks>,
    counters: Mutex<Thinned>,
    host: Mutex<Thinned>,
    /// New files for the host thread, from its next reading on.
    files: Mutex<Option<HostFiles>>,
}

impl Shared {
    pub(crate) fn new(board: Option<Arc<Board>>, busy_share: Option<f64>) -> Arc<Shared> {
        Arc::new(Shared {
            board,
            busy_share,
            ..Shared::default()
        })
    }

    pub(crate) fn waits(&self) -> MutexGuard<'_, Ticks> {
        locked(&self.waits)
    }

    pub(crate) fn counters(&self) -> MutexGuard<'_, Thinned> {
        locked(&self.counters)
    }

    pub(crate) fn host(&self) -> MutexGuard<'_, Thinned> {
        locked(&self.host)
    }

    pub(crate) fn read_files(&self, files: HostFiles) {
        *locked(&self.files) = Some(files);
    }

    pub(crate) fn take_files(&self) -> Option<HostFiles> {
        locked(&self.files).take()
    }
}

/// Columns stay valid even if a thread panicked with the lock: pushing a row does not panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The request to stop, which ends a wait at once.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn ask(&self) {
        *locked(&self.asked) = true;
        self.changed.notify_all();
    }

    /// Waits until `due` or until asked to stop; returns whether it was asked.
    pub(crate) fn wait_until(&self, due: Instant) -> bool {
        let mut asked = locked(&self.asked);
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if *asked || left.is_zero() {
                return *asked;
            }
            (asked, _) = self
                .changed
                .wait_timeout(asked, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn is_asked(&self) -> bool {
        *locked(&self.asked)
    }

    pub(crate) fn wait_for(&self, time: Duration) -> bool {
        self.wait_until(Instant::now() + time)
    }
}

/// Failures to read, each cause once, however often it occurs.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<(BTreeSet<String>, Vec<String>)>);

impl Warnings {
    pub(crate) fn add(&self, cause: &str, text: impl FnOnce() -> String) {
        let mut warnings = locked(&self.0);
        if warnings.0.insert(cause.to_owned()) {
            warnings.1.push(text());
        }
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        locked(&self.0).1.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_to_stop_ends_a_wait_at_once() {
        let stop = Arc::new(Stop::default());
        let asker = Arc::clone(&stop);
        let begun = Instant::now();
        let thread = std::thread::spawn(move || asker.ask());
        assert!(stop.wait_for(Duration::from_secs(60)));
        assert!(begun.elapsed() < Duration::from_secs(30));
        thread.join().unwrap();
    }

    #[test]
    fn a_wait_ends_at_its_time() {
        let stop = Stop::default();
        assert!(!stop.wait_for(Duration::from_millis(5)));
        assert!(!stop.wait_until(Instant::now()));
    }

    #[test]
    fn a_cause_is_told_once() {
        let warnings = Warnings::default();
        warnings.add("wal", || "first".into());
        warnings.add("wal", || "second".into());
        warnings.add("io", || "third".into());
        assert_eq!(warnings.texts(), ["first", "third"]);
    }
}
