//! Converts times of the server's clock to the clock of this machine.
//!
//! Enters: readings of the server's clock, each with the local times before and after it. Leaves:
//! local times. Never: adjusts for differences within the error of a reading.

/// The drift between the two clocks that is tolerated before the offset is set anew.
const LENIENT_NS: i64 = 5_000_000;

/// How far the local clock is ahead; 0 as long as the readings allow it.
#[derive(Debug, Default)]
pub(crate) struct ServerClock {
    ahead_ns: i64,
}

impl ServerClock {
    /// Adds a reading: the server's clock showed `server_us` between these two local times.
    pub(crate) fn compare(&mut self, asked_ns: i64, answered_ns: i64, server_us: i64) {
        let server_ns = server_us.saturating_mul(1000);
        let least = asked_ns.saturating_sub(server_ns);
        let most = answered_ns.saturating_sub(server_ns);
        // A slow answer has a wide interval, so it changes the offset little.
        let possible = least.saturating_sub(LENIENT_NS)..=most.saturating_add(LENIENT_NS);
        if !possible.contains(&self.ahead_ns) {
            self.ahead_ns = least.saturating_add(most.saturating_sub(least) / 2);
        }
    }

    pub(crate) fn to_local_ns(&self, server_us: i64) -> i64 {
        server_us.saturating_mul(1000).saturating_add(self.ahead_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const HOUR: i64 = 3_600_000 * MS;

    /// Where the server's time 0 lies after readings (asked, answered, server's) in milliseconds.
    fn zeros(readings: &[(i64, i64, i64)]) -> Vec<i64> {
        let mut clock = ServerClock::default();
        let place = |&(asked, answered, server): &(i64, i64, i64)| {
            clock.compare(asked * MS, answered * MS, server * 1000);
            clock.to_local_ns(0) / MS
        };
        readings.iter().map(place).collect()
    }

    #[test]
    fn clocks_that_may_be_one_are_taken_for_one() {
        assert_eq!(
            zeros(&[(100, 102, 101), (200, 202, 199), (300, 301, 305)]),
            [0; 3]
        );
    }

    #[test]
    fn the_error_of_a_reading_moves_nothing() {
        let far = HOUR / MS;
        let readings = [
            (100, 102, 101 - far),
            (200, 203, 200 - far),
            // It looked at once, and the answer took its time; then the other way round.
            (300, 380, 300 - far),
            (400, 480, 480 - far),
            (500, 504, 504 - far),
        ];
        assert_eq!(zeros(&readings), [far; 5]);
    }

    #[test]
    fn a_clock_that_was_set_is_compared_anew() {
        assert_eq!(
            zeros(&[(100, 102, 101), (200, 202, 101), (300, 302, 201)]),
            [0, 100, 100]
        );
    }
}
