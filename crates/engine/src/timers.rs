//! When clients that sleep are to be woken.
//!
//! Enters: times with the numbers of clients. Leaves: those that are due, the earliest first.
//! Never: looks at a clock, or allocates once every client has slept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Debug, Default)]
pub struct Timers(BinaryHeap<Reverse<(i64, usize)>>);

impl Timers {
    pub fn set(&mut self, at_ns: i64, client: usize) {
        self.0.push(Reverse((at_ns, client)));
    }

    /// The earliest time that is set.
    #[must_use]
    pub fn next_ns(&self) -> Option<i64> {
        self.0.peek().map(|Reverse((at_ns, _))| *at_ns)
    }

    /// Takes a client that is due.
    pub fn take_due(&mut self, now_ns: i64) -> Option<usize> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.0.pop().map(|Reverse((_, client))| client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_woken_in_order_of_time() {
        let mut timers = Timers::default();
        for (at_ns, client) in [(30, 1), (10, 2), (20, 1)] {
            timers.set(at_ns, client);
        }
        assert_eq!(timers.next_ns(), Some(10));
        assert_eq!(timers.take_due(9), None);
        let due: Vec<_> = std::iter::from_fn(|| timers.take_due(20)).collect();
        assert_eq!(due, [2, 1]);
        assert_eq!(timers.next_ns(), Some(30));
    }
}
