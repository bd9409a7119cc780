//! The processor time of this thread.
//!
//! Enters: nothing. Leaves: nanoseconds since the thread began, and how many of them it only looked
//! whether an answer was there. Never: the time of other threads.

use rustix::time::{ClockId, clock_gettime};

use crate::network::thread_polled_ns;

#[derive(Default)]
pub struct ThreadTime {
    pub cpu_ns: i64,
    pub polled_ns: i64,
}

impl ThreadTime {
    pub fn now() -> ThreadTime {
        ThreadTime {
            cpu_ns: thread_cpu_ns(),
            polled_ns: thread_polled_ns(),
        }
    }

    pub fn since(&self, before: &ThreadTime) -> ThreadTime {
        ThreadTime {
            cpu_ns: self.cpu_ns - before.cpu_ns,
            polled_ns: self.polled_ns - before.polled_ns,
        }
    }
}

#[must_use]
pub fn thread_cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
