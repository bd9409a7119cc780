//! The intended starts of transactions in an open loop.
//!
//! Enters: the rates of the schedule. Leaves: one intended start after the other, in order of
//! time. Never: depends on running transactions, or on which client claims an arrival.
//!
//! A load has one process of arrivals (with a pool per scenario: one per pool, by its share),
//! however many threads run it. Where several engines run the load, each draws all of them; the
//! arrivals are dealt out to the connections of the pool in turn, and an engine has those of its
//! connections. An idle client claims the next arrival, ahead of its time if
//! there is no backlog, and begins when that time comes; a client that becomes idle during a
//! backlog claims the oldest arrival and begins at once. So arrivals form one queue, first come
//! first served by all connections of all threads, and none waits while a connection is idle.

use std::sync::{Mutex, PoisonError};

use crate::config::{self, Configuration, Share};
use crate::random::{Purpose, Random};
use crate::schedule::Schedule;

/// The arrival processes of a load, by step and pool. Claiming an arrival locks one for nanoseconds.
#[derive(Debug)]
pub struct Arrivals(Vec<Vec<Option<Mutex<Process>>>>);

#[derive(Debug)]
struct Process {
    kind: config::Arrivals,
    random: Random,
    gap_ns: f64,
    start_ns: i64,
    end_ns: i64,
    turns: Turns,
    /// The next arrival of this engine: its number in the process,
    number: u64,
    /// and its time since the step's start.
    next_ns: f64,
}

/// Which arrivals of a process are this engine's: they are dealt out, one each, over and over, to
/// the connections that the step keeps busy.
#[derive(Debug, Clone, Copy)]
struct Turns {
    share: Share,
    /// Number of the pool's first connection among those of its server.
    start: usize,
    /// Connections of the pool in the step.
    size: usize,
}

impl Arrivals {
    #[must_use]
    pub fn new(configuration: &Configuration, schedule: &Schedule) -> Arrivals {
        let shares = configuration.pool_shares();
        let starts = configuration.pool_starts();
        let steps = schedule.steps.iter().enumerate();
        let processes = steps.map(|(number, step)| {
            let process = |(pool, share): (usize, &Option<f64>)| {
                let rate = step.rate? * (*share)?;
                // Every process has its own random numbers.
                let random = Random::new(
                    configuration.seed,
                    number * shares.len() + pool,
                    Purpose::Arrival,
                );
                let turns = Turns {
                    share: configuration.share,
                    start: *starts.get(pool)?,
                    size: *step.pools.get(pool)?,
                };
                let kind = configuration.arrivals;
                let span = (step.start_ns, step.end_ns);
                Some(Mutex::new(Process::new(kind, random, rate, span, turns)))
            };
            shares.iter().enumerate().map(process).collect()
        });
        Arrivals(processes.collect())
    }

    /// Whether a pool runs an open loop in a step.
    #[must_use]
    pub fn has_rate(&self, step: usize, pool: usize) -> bool {
        self.process(step, pool).is_some()
    }

    /// Claims the next arrival for the caller; none if no more come in this step.
    #[must_use]
    pub fn claim(&self, step: usize, pool: usize) -> Option<i64> {
        let mut process = self
            .process(step, pool)?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        process.claim()
    }

    /// Arrivals of a step before `end_ns` that nobody has claimed. Those of a Poisson process
    /// are not drawn for that, but counted as its rate says.
    #[must_use]
    pub fn unclaimed(&self, step: usize, end_ns: i64) -> u64 {
        let pools = self.0.get(step).into_iter().flatten().flatten();
        pools
            .map(|process| {
                let process = process.lock().unwrap_or_else(PoisonError::into_inner);
                process.unclaimed(end_ns)
            })
            .sum()
    }

    fn process(&self, step: usize, pool: usize) -> Option<&Mutex<Process>> {
        self.0.get(step)?.get(pool)?.as_ref()
    }
}

impl Process {
    fn new(
        kind: config::Arrivals,
        mut random: Random,
        rate: f64,
        (start_ns, end_ns): (i64, i64),
        turns: Turns,
    ) -> Process {
        let gap_ns = 1e9 / rate;
        let next_ns = match kind {
            config::Arrivals::Constant => 0.0,
            config::Arrivals::Poisson => gap_ns * random.gap(),
        };
        let mut process = Process {
            kind,
            random,
            gap_ns,
            start_ns,
            // Without a connection in this step, an engine has no arrival to look for.
            end_ns: if turns.are_none() { start_ns } else { end_ns },
            turns,
            number: 0,
            next_ns,
        };
        process.skip_others();
        process
    }

    fn time_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.next_ns.round() as i64)
    }

    fn claim(&mut self) -> Option<i64> {
        let time_ns = self.time_ns();
        if time_ns >= self.end_ns {
            return None;
        }
        self.draw();
        self.skip_others();
        Some(time_ns)
    }

    /// Goes on to the next arrival of the process.
    fn draw(&mut self) {
        self.number += 1;
        self.next_ns = match self.kind {
            // A product, because a sum would accumulate rounding errors.
            config::Arrivals::Constant => self.number as f64 * self.gap_ns,
            config::Arrivals::Poisson => self.next_ns + self.gap_ns * self.random.gap(),
        };
    }

    /// Goes on to the next arrival of this engine, unless the step ends before.
    fn skip_others(&mut self) {
        while !self.turns.has(self.number) && self.time_ns() < self.end_ns {
            self.draw();
        }
    }

    fn unclaimed(&self, end_ns: i64) -> u64 {
        let end_ns = end_ns.min(self.end_ns);
        let time_ns = self.time_ns();
        if time_ns >= end_ns {
            return 0;
        }
        let left = 1 + ((end_ns - time_ns - 1) as f64 / self.gap_ns) as u64;
        self.turns.count(self.number + left) - self.turns.count(self.number)
    }
}

impl Turns {
    fn are_none(self) -> bool {
        self.of_first(self.size) == 0
    }

    /// Whether the arrival with this number is this engine's.
    fn has(self, number: u64) -> bool {
        let (_, rank) = self.rank(number);
        self.share.has(self.start + rank)
    }

    /// How many of the arrivals with numbers below `end` are this engine's.
    fn count(self, end: u64) -> u64 {
        let (rounds, rank) = self.rank(end);
        rounds * self.of_first(self.size) + self.of_first(rank)
    }

    /// Whole rounds before an arrival, and the rank of the connection whose turn it is.
    fn rank(self, number: u64) -> (u64, usize) {
        let size = self.size.max(1) as u64;
        (number / size, (number % size) as usize)
    }

    /// How many of the first connections of the pool are this engine's.
    fn of_first(self, connections: usize) -> u64 {
        (self.share.count(self.start + connections) - self.share.count(self.start)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(kind: config::Arrivals) -> Process {
        process_of(kind, Share::default(), 0, 1)
    }

    fn process_of(kind: config::Arrivals, share: Share, start: usize, size: usize) -> Process {
        let random = Random::new(1, 0, Purpose::Arrival);
        let turns = Turns { share, start, size };
        Process::new(kind, random, 1000.0, (5_000, 10_000_005_000), turns)
    }

    fn times(mut process: Process) -> Vec<i64> {
        std::iter::from_fn(|| process.claim()).collect()
    }

    #[test]
    fn constant_arrivals_keep_their_gap_and_end_with_the_step() {
        let times = times(process(config::Arrivals::Constant));
        assert_eq!(times.len(), 10_000);
        assert_eq!((times[0], times[9_999]), (5_000, 9_999_005_000));
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000));
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread_of_one() {
        let times = times(process(config::Arrivals::Poisson));
        assert!((9_600..10_400).contains(&times.len()), "{}", times.len());
        assert!(times.is_sorted());
        let gaps: Vec<f64> = times
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / 1e6)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.06, "{variance}");
    }

    #[test]
    fn shares_have_every_arrival_of_one_engine_once() {
        for kind in [config::Arrivals::Constant, config::Arrivals::Poisson] {
            let whole = times(process(kind));
            for (of, start, size) in [(2, 0, 8), (3, 1, 8), (3, 2, 2), (7, 5, 40), (64, 3, 5)] {
                let shares =
                    || (0..of).map(|index| process_of(kind, Share { index, of }, start, size));
                let mut all: Vec<_> = shares().flat_map(times).collect();
                all.sort_unstable();
                assert_eq!(all, whole, "{of} {start} {size}");
                for (share, process) in shares().enumerate() {
                    // Rounds of `size`, of which each connection of this engine has one arrival.
                    let own = (0..size)
                        .filter(|rank| (start + rank) % of == share)
                        .count();
                    let expected = whole.len() as f64 * own as f64 / size as f64;
                    let found = times(process).len() as f64;
                    assert!((found - expected).abs() <= own as f64, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn each_share_counts_what_it_did_not_claim() {
        let shares = || {
            let share = |index| Share { index, of: 3 };
            (0..3).map(move |index| process_of(config::Arrivals::Constant, share(index), 1, 8))
        };
        let unclaimed = |processes: &[Process], end_ns| -> u64 {
            processes.iter().map(|p| p.unclaimed(end_ns)).sum()
        };
        let mut processes: Vec<_> = shares().collect();
        assert_eq!(unclaimed(&processes, i64::MAX), 10_000);
        for process in &mut processes {
            for _ in 0..100 {
                let _ = process.claim();
            }
        }
        assert_eq!(unclaimed(&processes, i64::MAX), 9_700);
        assert_eq!(unclaimed(&processes, 0), 0);
    }

    #[test]
    fn what_nobody_claimed_is_counted() {
        let mut constant = process(config::Arrivals::Constant);
        assert_eq!(constant.unclaimed(i64::MAX), 10_000);
        for _ in 0..600 {
            let _ = constant.claim();
        }
        assert_eq!(constant.unclaimed(i64::MAX), 9_400);
        assert_eq!(constant.unclaimed(1_000_005_000), 400);
        assert_eq!(constant.unclaimed(0), 0);
    }
}
