//! The timers of the clients of one worker.
//!
//! Enters: a time and a client's index in the worker. Leaves: the clients whose timer is due.
//! Never: cancels a timer: a client that is run too early just sets another.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Debug, Default)]
pub struct Timers(BinaryHeap<Reverse<(i64, usize)>>);

impl Timers {
    /// Reserves room for a timer of each client, so that setting one does not allocate.
    #[must_use]
    pub fn new(clients: usize) -> Timers {
        Timers(BinaryHeap::with_capacity(2 * clients))
    }

    pub fn set(&mut self, time_ns: i64, place: usize) {
        self.0.push(Reverse((time_ns, place)));
    }

    #[must_use]
    pub fn next_ns(&self) -> Option<i64> {
        self.0.peek().map(|Reverse((time_ns, _))| *time_ns)
    }

    /// Takes the earliest timer that is due and returns its client.
    pub fn pop(&mut self, now_ns: i64) -> Option<usize> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.0.pop().map(|Reverse((_, place))| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_in_order_of_time_and_none_too_early() {
        let mut timers = Timers::new(2);
        for (time_ns, place) in [(30, 0), (10, 1), (20, 2), (10, 3)] {
            timers.set(time_ns, place);
        }
        let due: Vec<_> = std::iter::from_fn(|| timers.pop(20)).collect();
        assert_eq!(due, [1, 3, 2]);
        assert_eq!(timers.next_ns(), Some(30));
    }
}
