//! Busy polling: a wait polls for answers for a while before it sleeps.
//!
//! Enters: how long it may poll, a function that polls. Leaves: whether there is an event, and the
//! time spent polling. Never: keeps other threads from the processor, or polls where it is
//! fruitless.
//!
//! An idle processor halts, and the server's answer must wake it with an interrupt. On a virtual
//! machine that costs the server more than the rest of its answer. A client with its own
//! processor can stay awake instead (`docs/load.md`).

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Polls between two readings of the clock.
const LOOKS: usize = 16;
/// Fruitless polls in a row after which the next waits sleep at once.
const MOST_FRUITLESS: u32 = 4;
/// The most waits that sleep at once before one polls again, as a power of two.
const LONGEST_REST: u32 = 8;

thread_local! {
    static POLLED_NS: Cell<i64> = const { Cell::new(0) };
}

/// The time this thread has spent polling.
pub fn thread_polled_ns() -> i64 {
    POLLED_NS.get()
}

/// Polls for at most this long; never if it is zero.
#[derive(Debug)]
pub struct BusyPoll {
    longest: Duration,
    in_vain: u32,
    skip: u32,
}

impl BusyPoll {
    pub fn new(longest: Duration) -> BusyPoll {
        BusyPoll {
            longest,
            in_vain: 0,
            skip: 0,
        }
    }

    pub fn is_off(&self) -> bool {
        self.longest.is_zero()
    }

    /// Whether `look` found an event before the time of the wait or of polling was over.
    pub fn finds(&mut self, wait: Duration, mut look: impl FnMut() -> bool) -> bool {
        if self.is_off() || wait.is_zero() {
            return false;
        }
        if let Some(less) = self.skip.checked_sub(1) {
            self.skip = less;
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
            // Other threads on this processor go first.
            std::thread::yield_now();
        };
        POLLED_NS.set(POLLED_NS.get() + i64::try_from(spent.as_nanos()).unwrap_or(0));
        self.record_result(found);
        found
    }

    fn record_result(&mut self, found: bool) {
        if found {
            self.in_vain = 0;
            return;
        }
        self.in_vain = self.in_vain.saturating_add(1);
        let beyond = self
            .in_vain
            .saturating_sub(MOST_FRUITLESS)
            .min(LONGEST_REST);
        self.skip = if beyond == 0 { 0 } else { 1 << beyond };
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
        for _ in 0..MOST_FRUITLESS {
            let mut has_looked = false;
            poll.finds(LONG, || {
                has_looked = true;
                false
            });
            assert!(has_looked);
        }
    }
}
