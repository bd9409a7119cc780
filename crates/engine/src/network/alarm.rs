//! How a wait is made to end in time, cheaply.
//!
//! Enters: how long a wait may last. Leaves: whether the kernel's timer that runs already sees
//! to it. Never: sets a timer itself.
//!
//! Waits follow each other by the microsecond and are nearly always ended by an answer. A timer
//! set and cleared for each costs more than it looks where the processor goes idle meanwhile:
//! the hardware's clock is programmed anew both times. So one timer is left running over many
//! waits; it ends one of them early, without an event, and is then set again.

use std::time::{Duration, Instant};

/// Shorter waits have a limit of their own.
const WORTH_A_TIMER: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
pub struct Alarm {
    /// When the timer goes off, if it runs.
    until: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Limit {
    /// The timer runs and goes off soon enough.
    Running,
    /// The timer is to be set to so long from now.
    Start,
    /// This wait needs a limit of its own.
    Own,
}

impl Alarm {
    pub fn limit(&mut self, timeout: Duration) -> Limit {
        let now = Instant::now();
        let Some(end) = now.checked_add(timeout) else {
            return Limit::Own;
        };
        match self.until {
            Some(until) if until <= end => Limit::Running,
            None if timeout >= WORTH_A_TIMER => {
                self.until = Some(end);
                Limit::Start
            }
            _ => Limit::Own,
        }
    }

    /// The timer went off.
    pub fn rang(&mut self) {
        self.until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_set_once_and_serves_all_waits_that_end_after_it() {
        let mut alarm = Alarm::default();
        let long = Duration::from_secs(50);
        assert_eq!(alarm.limit(long), Limit::Start);
        assert_eq!(alarm.limit(long), Limit::Running);
        assert_eq!(alarm.limit(Duration::from_secs(20)), Limit::Own);
        alarm.rang();
        assert_eq!(alarm.limit(Duration::from_micros(10)), Limit::Own);
        assert_eq!(alarm.limit(long), Limit::Start);
    }
}
