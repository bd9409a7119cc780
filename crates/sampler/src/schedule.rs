//! The times of a sampler's readings.
//!
//! Enters: a period, a jitter, the current time, a pause. Leaves: the time of the next tick and
//! how many were missed. Never: makes up for a late tick with a burst, because samples in bunches
//! would give the moments around a stall too much weight.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The longest pause, however slow a server is.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// A grid of times, one per period; each tick falls at random in a window around its time.
///
/// The jitter keeps the ticks from falling in step with something periodic on the server; the
/// grid keeps their mean rate exact.
pub(crate) struct Schedule {
    start: Instant,
    every: Duration,
    jitter: f64,
    random: Pcg64Mcg,
    tick: u64,
    due: Instant,
}

impl Schedule {
    pub(crate) fn new(start: Instant, every: Duration, jitter: f64, seed: u64) -> Schedule {
        Schedule {
            start,
            every,
            jitter,
            random: Pcg64Mcg::seed_from_u64(seed),
            tick: 0,
            due: start,
        }
    }

    /// When the current tick is to be read.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Whether a reading that begins `now` is too late to count as the current tick.
    pub(crate) fn is_late(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.due) > self.every / 10
    }

    /// Resumes `now`, leaving out the ticks during an outage.
    pub(crate) fn resume(&mut self, now: Instant) {
        if now.saturating_duration_since(self.due) > self.every {
            self.advance(now);
        }
    }

    /// Moves to the next tick; returns how many were missed.
    pub(crate) fn advance(&mut self, now: Instant) -> u64 {
        self.advance_after_rest(now, now).missed
    }

    /// Moves to the first tick after a pause that begins `now`.
    pub(crate) fn advance_after_rest(&mut self, now: Instant, until: Instant) -> SkippedTicks {
        let elapsed = |at: Instant| at.saturating_duration_since(self.start);
        let (first, missed) = next_tick(self.tick, elapsed(now), self.every);
        let (tick, all) = next_tick(self.tick, elapsed(until.max(now)), self.every);
        self.tick = tick;
        let rested = tick - first;
        // The pause counts from `now`, not from the grid: a window may begin before its grid time.
        let due = self.start + offset(tick, self.every, self.jitter, self.random.random());
        self.due = if rested > 0 { due.max(until) } else { due };
        debug_assert_eq!(missed + rested, all);
        SkippedTicks { missed, rested }
    }
}

/// Ticks that were not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SkippedTicks {
    /// Missed because the one before took too long.
    pub(crate) missed: u64,
    /// Left out to spare a slow server.
    pub(crate) rested: u64,
}

/// How long to pause after a reading, so that readings take no more than `share` of the time.
pub(crate) fn rest_after(took: Duration, share: Option<f64>) -> Duration {
    share.map_or(Duration::ZERO, |share| {
        took.mul_f64((1.0 / share - 1.0).max(0.0)).min(LONGEST_REST)
    })
}

/// Limits a query's share of the time over about a minute, so that one slow reading, as in a
/// stall, causes no pause.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    share: f64,
    /// Time beyond their share that readings took until `at`.
    owed: Duration,
    at: Instant,
}

impl Allowance {
    pub(crate) fn new(share: f64, now: Instant) -> Allowance {
        Allowance {
            share,
            owed: Duration::ZERO,
            at: now,
        }
    }

    /// How long to pause after a reading that ended `now`.
    pub(crate) fn rest_after(&mut self, took: Duration, now: Instant) -> Duration {
        let earned = now.saturating_duration_since(self.at).mul_f64(self.share);
        self.owed = self.owed.saturating_sub(earned) + took;
        self.at = now;
        let over = self.owed.saturating_sub(LONGEST_REST.mul_f64(self.share));
        over.div_f64(self.share).min(LONGEST_REST)
    }
}

/// The first tick after `tick` whose grid time is not past, and how many lie between.
fn next_tick(tick: u64, elapsed: Duration, every: Duration) -> (u64, u64) {
    let passed = elapsed.as_nanos().div_ceil(every.as_nanos().max(1));
    let first = tick.saturating_add(1);
    let next = first.max(u64::try_from(passed).unwrap_or(u64::MAX));
    (next, next - first)
}

/// The time of a tick since the start, at `position` (0 to 1) in its window.
fn offset(tick: u64, every: Duration, jitter: f64, position: f64) -> Duration {
    let every_ns = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
    let grid = Duration::from_nanos(every_ns.saturating_mul(tick));
    let shift = every.mul_f64(((position - 0.5) * jitter).abs());
    if position < 0.5 {
        grid.saturating_sub(shift)
    } else {
        grid + shift
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EVERY: Duration = Duration::from_millis(100);

    #[test]
    fn a_tick_in_time_is_followed_by_the_next_on_the_grid() {
        assert_eq!(next_tick(3, Duration::from_millis(310), EVERY), (4, 0));
        assert_eq!(next_tick(3, Duration::from_millis(400), EVERY), (4, 0));
    }

    #[test]
    fn ticks_that_passed_are_skipped_and_counted() {
        assert_eq!(next_tick(3, Duration::from_millis(401), EVERY), (5, 1));
        assert_eq!(next_tick(3, Duration::from_millis(950), EVERY), (10, 6));
    }

    #[test]
    fn a_window_is_as_wide_as_the_jitter_says() {
        let window = |position| offset(10, EVERY, 0.5, position);
        assert_eq!(window(0.0), Duration::from_millis(975));
        assert_eq!(window(0.5), Duration::from_millis(1000));
        assert_eq!(window(1.0), Duration::from_millis(1025));
        assert_eq!(offset(10, EVERY, 0.0, 0.9), Duration::from_millis(1000));
    }

    #[test]
    fn the_mean_rate_is_that_of_the_grid() {
        let start = Instant::now();
        let mut schedule = Schedule::new(start, EVERY, 0.5, 7);
        let mut shifts = Vec::new();
        for tick in 1..=1000_u32 {
            assert_eq!(schedule.advance(schedule.due()), 0);
            let grid = f64::from(tick) * EVERY.as_secs_f64();
            shifts.push((schedule.due() - start).as_secs_f64() - grid);
        }
        let mean = shifts.iter().sum::<f64>() / 1000.0;
        assert!(mean.abs() < 0.002, "mean shift {mean}");
        assert!(shifts.iter().any(|shift| *shift > 0.02));
        assert!(shifts.iter().all(|shift| shift.abs() <= 0.025));
    }

    #[test]
    fn an_outage_is_skipped_and_a_fresh_start_is_not() {
        let start = Instant::now();
        let mut schedule = Schedule::new(start, EVERY, 0.5, 7);
        schedule.resume(start + Duration::from_millis(20));
        assert_eq!(schedule.due(), start);
        let back = start + Duration::from_secs(5);
        schedule.resume(back);
        assert!(schedule.due() > back - EVERY && schedule.due() < back + EVERY);
    }

    #[test]
    fn a_slow_reading_is_followed_by_a_rest_and_a_quick_one_is_not() {
        let start = Instant::now();
        let mut schedule = Schedule::new(start, EVERY, 0.0, 7);
        let quick = start + Duration::from_millis(4);
        let until = quick + rest_after(Duration::from_millis(4), Some(0.1));
        let skipped = schedule.advance_after_rest(quick, until);
        assert_eq!(
            skipped,
            SkippedTicks {
                missed: 0,
                rested: 0
            }
        );
        let slow = schedule.due() + Duration::from_millis(250);
        let until = slow + rest_after(Duration::from_millis(250), Some(0.1));
        let skipped = schedule.advance_after_rest(slow, until);
        assert_eq!(
            skipped,
            SkippedTicks {
                missed: 2,
                rested: 22
            }
        );
        assert!(schedule.due() >= until);
    }

    #[test]
    fn no_rest_is_longer_than_a_minute_and_without_a_share_there_is_none() {
        assert_eq!(rest_after(Duration::from_secs(30), Some(0.1)), LONGEST_REST);
        assert_eq!(rest_after(Duration::from_secs(30), None), Duration::ZERO);
    }

    #[test]
    fn an_allowance_lets_one_stall_pass_and_holds_over_minutes() {
        let mut now = Instant::now();
        let mut allowance = Allowance::new(0.02, now);
        now += Duration::from_secs(1);
        assert_eq!(
            allowance.rest_after(Duration::from_secs(1), now),
            Duration::ZERO
        );
        let took = Duration::from_millis(200);
        let (mut busy, begun) = (Duration::ZERO, now);
        while now < begun + Duration::from_secs(600) {
            now += took;
            busy += took;
            now += allowance.rest_after(took, now).max(EVERY);
        }
        let share = busy.as_secs_f64() / (now - begun).as_secs_f64();
        assert!((0.018..0.023).contains(&share), "{share}");
    }

    proptest! {
        #[test]
        fn the_next_tick_is_never_past_and_never_skips_one_that_is_not(
            tick in 0_u64..1_000_000, elapsed_us in 0_u64..10_000_000_000, every_us in 1_000_u64..10_000_000
        ) {
            let (elapsed, every) = (Duration::from_micros(elapsed_us), Duration::from_micros(every_us));
            let (next, missed) = next_tick(tick, elapsed, every);
            prop_assert_eq!(next, tick + 1 + missed);
            prop_assert!(u128::from(next) * every.as_nanos() >= elapsed.as_nanos());
            if missed > 0 {
                prop_assert!(u128::from(next - 1) * every.as_nanos() < elapsed.as_nanos());
            }
        }
    }
}
