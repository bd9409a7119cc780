//! The time axis that a whole run shares.
//!
//! Enters: nothing, or an `Instant`. Leaves: nanoseconds of Unix time. Never: follows a clock
//! step, because the wall clock is read once per process and only the monotonic clock since.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

struct Origin {
    instant: Instant,
    unix_ns: i64,
}

fn origin() -> &'static Origin {
    static ORIGIN: OnceLock<Origin> = OnceLock::new();
    ORIGIN.get_or_init(|| {
        let instant = Instant::now();
        // A clock set before 1970 gives 0: the axis is then wrong by a constant, but still steady.
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Origin {
            instant,
            unix_ns: nanoseconds(since_epoch),
        }
    })
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// The current time on the axis.
#[must_use]
pub fn now_ns() -> i64 {
    // The origin must be older than the reading, also on the very first call.
    let origin = origin();
    origin.unix_ns + nanoseconds(origin.instant.elapsed())
}

/// The time of `instant` on the axis; instants before the first reading are exact too.
#[must_use]
pub fn unix_ns(instant: Instant) -> i64 {
    let origin = origin();
    match instant.checked_duration_since(origin.instant) {
        Some(after) => origin.unix_ns + nanoseconds(after),
        None => origin.unix_ns - nanoseconds(origin.instant.duration_since(instant)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_never_go_back() {
        let mut last = now_ns();
        for _ in 0..10_000 {
            let next = now_ns();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn an_instant_and_a_reading_share_the_axis() {
        let before = now_ns();
        let instant = unix_ns(Instant::now());
        let after = now_ns();
        assert!(before <= instant && instant <= after);
    }

    #[test]
    fn an_instant_older_than_the_first_reading_lies_before_it() {
        let now = Instant::now();
        let Some(earlier) = now.checked_sub(Duration::from_millis(250)) else {
            return;
        };
        assert_eq!(unix_ns(now) - unix_ns(earlier), 250_000_000);
    }

    #[test]
    fn the_axis_is_unix_time() {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        assert!((now_ns() - nanoseconds(wall)).abs() < 1_000_000_000);
    }
}
