//! The intended starts of transactions in an open loop.
//!
//! Enters: the rates of the schedule. Leaves: one intended start after the other, in order of
//! time. Never: depends on running transactions, or on which client claims an arrival.
//!
//! A load has one process of arrivals (with a pool per scenario: one per pool, by its share),
//! however many threads run it. An idle client claims the next arrival, ahead of its time if
//! there is no backlog, and begins when that time comes; a client that becomes idle during a
//! backlog claims the oldest arrival and begins at once. So arrivals form one queue, first come
//! first served by all connections of all threads, and none waits while a connection is idle.

use std::sync::{Mutex, PoisonError};

use crate::config::{self, Configuration};
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
    claimed: u64,
    /// Time of the next arrival since the step's start.
    next_ns: f64,
}

impl Arrivals {
    #[must_use]
    pub fn new(configuration: &Configuration, schedule: &Schedule) -> Arrivals {
        let shares = configuration.pool_shares();
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
                let kind = configuration.arrivals;
                Some(Mutex::new(Process::new(
                    kind,
                    random,
                    rate,
                    step.start_ns,
                    step.end_ns,
                )))
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
        start_ns: i64,
        end_ns: i64,
    ) -> Process {
        let gap_ns = 1e9 / rate;
        let next_ns = match kind {
            config::Arrivals::Constant => 0.0,
            config::Arrivals::Poisson => gap_ns * random.gap(),
        };
        Process {
            kind,
            random,
            gap_ns,
            start_ns,
            end_ns,
            claimed: 0,
            next_ns,
        }
    }

    fn time_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.next_ns.round() as i64)
    }

    fn claim(&mut self) -> Option<i64> {
        let time_ns = self.time_ns();
        if time_ns >= self.end_ns {
            return None;
        }
        self.claimed += 1;
        self.next_ns = match self.kind {
            // A product, because a sum would accumulate rounding errors.
            config::Arrivals::Constant => self.claimed as f64 * self.gap_ns,
            config::Arrivals::Poisson => self.next_ns + self.gap_ns * self.random.gap(),
        };
        Some(time_ns)
    }

    fn unclaimed(&self, end_ns: i64) -> u64 {
        let end_ns = end_ns.min(self.end_ns);
        let time_ns = self.time_ns();
        if time_ns >= end_ns {
            return 0;
        }
        1 + ((end_ns - time_ns - 1) as f64 / self.gap_ns) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(kind: config::Arrivals) -> Process {
        let random = Random::new(1, 0, Purpose::Arrival);
        Process::new(kind, random, 1000.0, 5_000, 10_000_005_000)
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
