//! Whether a wait looks for answers for a while before it sleeps.
//!
//! Enters: how long it may look, a way to look. Leaves: whether there is something, and the time
//! spent on it. Never: keeps others from the processor, or goes on where looking is in vain.
//!
//! A processor that has nothing to run halts, and whoever answers must send it an interrupt. On a
//! virtual machine that costs the server more than the rest of its answer. Where the client has a
//! processor of its own, it may as well stay awake (`docs/load.md`).

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Looks between two readings of the clock.
const LOOKS: usize = 16;
/// Looks in vain after which the next waits sleep at once.
const PATIENCE: u32 = 4;
/// The most waits that sleep at once, as a power of two, before one looks again.
const LONGEST_REST: u32 = 8;

thread_local! {
    static POLLED_NS: Cell<i64> = const { Cell::new(0) };
}

/// What this thread has spent looking.
pub fn thread_polled_ns() -> i64 {
    POLLED_NS.get()
}

/// Looks for so long at most; with no time at all, never.
#[derive(Debug)]
pub struct BusyPoll {
    longest: Duration,
    in_vain: u32,
    rest: u32,
}

impl BusyPoll {
    pub fn new(longest: Duration) -> BusyPoll {
        BusyPoll {
            longest,
            in_vain: 0,
            rest: 0,
        }
    }

    pub fn is_off(&self) -> bool {
        self.longest.is_zero()
    }

    /// Whether `look` found something before the wait's own time or ours was over.
    pub fn finds(&mut self, wait: Duration, mut look: impl FnMut() -> bool) -> bool {
        if self.is_off() || wait.is_zero() {
            return false;
        }
        if let Some(less) = self.rest.checked_sub(1) {
            self.rest = less;
            return false;
        }
        let began = Instant::now();
        let longest = self.longest.min(wait);
        let (found, spent) = loop {
            let found = (0..LOOKS).any(|_| {
                std::hint::spin_loop();
                look()
            });
            let spent = began.elapsed();
            if found || spent >= longest {
                break (found, spent);
            }
            // Whoever else has to run here goes first.
            std::thread::yield_now();
        };
        POLLED_NS.set(POLLED_NS.get() + i64::try_from(spent.as_nanos()).unwrap_or(0));
        self.learn(found);
        found
    }

    fn learn(&mut self, found: bool) {
        if found {
            self.in_vain = 0;
            return;
        }
        self.in_vain = self.in_vain.saturating_add(1);
        let beyond = self.in_vain.saturating_sub(PATIENCE).min(LONGEST_REST);
        self.rest = if beyond == 0 { 0 } else { 1 << beyond };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);
    const SHORT: Duration = Duration::from_micros(1);

    #[test]
    fn it_looks_until_there_is_something_and_counts_the_time() {
        let mut poll = BusyPoll::new(LONG);
        let mut looks = 0;
        let before_ns = thread_polled_ns();
        assert!(poll.finds(LONG, || {
            looks += 1;
            looks == 100
        }));
        assert_eq!(looks, 100);
        assert!(thread_polled_ns() > before_ns);
    }

    #[test]
    fn a_wait_that_is_over_ends_the_looking() {
        assert!(!BusyPoll::new(LONG).finds(SHORT, || false));
    }

    #[test]
    fn without_time_it_never_looks() {
        let mut poll = BusyPoll::new(Duration::ZERO);
        assert!(!poll.finds(LONG, || panic!("it looked")));
    }

    #[test]
    fn looking_in_vain_grows_rare_and_success_brings_it_back() {
        let mut poll = BusyPoll::new(SHORT);
        let mut waits_that_looked = 0;
        for _ in 0..10_000 {
            let mut has_looked = false;
            poll.finds(LONG, || {
                has_looked = true;
                false
            });
            waits_that_looked += i32::from(has_looked);
        }
        assert!(waits_that_looked < 60, "{waits_that_looked}");
        while !poll.finds(LONG, || true) {}
        for _ in 0..PATIENCE {
            let mut has_looked = false;
            poll.finds(LONG, || {
                has_looked = true;
                false
            });
            assert!(has_looked);
        }
    }
}
