//! Limits the length of waits at little cost.
//!
//! Enters: how long a wait may last. Leaves: whether the kernel's timer that already runs limits
//! it. Never: sets a timer itself.
//!
//! Waits last microseconds and nearly always end with an answer. Setting and clearing a timer for
//! each is expensive if the processor goes idle meanwhile, because the hardware timer is
//! programmed both times. So one timer runs over many waits; it ends one of them early, without
//! an event, and is then set again.

use std::time::{Duration, Instant};

/// Shorter waits have their own limit.
const WORTH_A_TIMER: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
pub struct Alarm {
    /// When the timer fires, if it runs.
    until: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Limit {
    /// The timer runs and fires soon enough.
    Running,
    /// The timer must be set to fire after this time.
    Start,
    /// This wait needs its own limit.
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

    /// Notes that the timer fired.
    pub fn fired(&mut self) {
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
        alarm.fired();
        assert_eq!(alarm.limit(Duration::from_micros(10)), Limit::Own);
        assert_eq!(alarm.limit(long), Limit::Start);
    }
}
