//! The schedule: steps on the time axis, divided into intervals and slices.
//!
//! Enters: the configuration and the time of the start. Leaves: positions, each an interval of a
//! step, or the part of one that lies in a slice. Never: reads a clock. Spans include their
//! start but not their end.

pub mod arrivals;
pub mod timers;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::config::{Configuration, Slices};

#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The number of clients in the configuration.
    pub clients: usize,
    /// Number of busy connections, by pool.
    pub pools: Arc<[usize]>,
    pub rate: Option<f64>,
    pub measured: bool,
    pub start_ns: i64,
    /// `i64::MAX` if a count of transactions ends the step.
    pub end_ns: i64,
}

/// A part of a measured step in which one variant runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    pub step: usize,
    pub variant: usize,
    pub start_ns: i64,
    pub end_ns: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    pub steps: Vec<Span>,
    pub slices: Arc<[Slice]>,
    pub interval_ns: i64,
}

/// One interval of one step, as far as it lies in one slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    pub step: usize,
    /// Index within the step: intervals are aligned to its start.
    pub interval: usize,
    /// Index among all slices of the load.
    pub slice: Option<usize>,
}

impl Schedule {
    #[must_use]
    pub fn new(configuration: &Configuration, start_ns: i64) -> Schedule {
        let mut start_ns = start_ns;
        let steps = configuration.steps.iter().map(|step| {
            let end_ns = match (configuration.transactions_per_client, step.duration_s) {
                (None, Some(duration_s)) => start_ns.saturating_add(nanoseconds(duration_s)),
                _ => i64::MAX,
            };
            let span = Span {
                clients: step.clients,
                pools: configuration.pool_sizes(step).into(),
                rate: step.rate,
                measured: step.measured,
                start_ns,
                end_ns,
            };
            start_ns = end_ns;
            span
        });
        let steps: Vec<Span> = steps.collect();
        let slices = configuration.slices.as_ref();
        Schedule {
            slices: slices
                .map(|slices| cut(slices, &steps))
                .unwrap_or_default()
                .into(),
            steps,
            interval_ns: nanoseconds(configuration.interval_s).max(1),
        }
    }

    #[must_use]
    pub fn start_ns(&self) -> i64 {
        self.steps.first().map_or(0, |step| step.start_ns)
    }

    #[must_use]
    pub fn end_ns(&self) -> i64 {
        self.steps.last().map_or(0, |step| step.end_ns)
    }

    #[must_use]
    pub fn step(&self, position: Position) -> Option<&Span> {
        self.steps.get(position.step)
    }

    /// The position at a time; `None` before the start and from the end on.
    #[must_use]
    pub fn position(&self, now_ns: i64) -> Option<Position> {
        let step = self
            .steps
            .iter()
            .position(|step| (step.start_ns..step.end_ns).contains(&now_ns))?;
        let since = now_ns - self.steps.get(step)?.start_ns;
        let interval = usize::try_from(since / self.interval_ns).ok()?;
        // The last slice that has begun may be one of an earlier step.
        let begun = self
            .slices
            .partition_point(|slice| slice.start_ns <= now_ns);
        let slice = begun.checked_sub(1);
        Some(Position {
            step,
            interval,
            slice: slice.filter(|&slice| self.slices.get(slice).is_some_and(|s| now_ns < s.end_ns)),
        })
    }

    #[must_use]
    pub fn slice(&self, position: Position) -> Option<&Slice> {
        self.slices.get(position.slice?)
    }

    /// Start and end of a position; the last interval of a step, and those at the edges of
    /// slices, may be short.
    #[must_use]
    pub fn bounds(&self, position: Position) -> (i64, i64) {
        let Some(step) = self.step(position) else {
            return (i64::MAX, i64::MAX);
        };
        let offset = |interval: usize| {
            i64::try_from(interval)
                .unwrap_or(i64::MAX)
                .saturating_mul(self.interval_ns)
        };
        let at = |interval| {
            step.start_ns
                .saturating_add(offset(interval))
                .min(step.end_ns)
        };
        let (start_ns, end_ns) = (at(position.interval), at(position.interval + 1));
        match self.slice(position) {
            Some(slice) => (start_ns.max(slice.start_ns), end_ns.min(slice.end_ns)),
            None => (start_ns, end_ns),
        }
    }

    /// The same schedule, ended at `end_ns`. Steps that had not begun are removed, except the
    /// first, which is then empty.
    #[must_use]
    pub fn ended_at(&self, end_ns: i64) -> Schedule {
        let mut ended = self.clone();
        let end_ns = end_ns.max(self.start_ns());
        let mut is_first = true;
        ended
            .steps
            .retain(|step| std::mem::take(&mut is_first) || step.start_ns < end_ns);
        for step in &mut ended.steps {
            step.end_ns = step.end_ns.min(end_ns);
        }
        let begun = self.slices.iter().filter(|slice| slice.start_ns < end_ns);
        ended.slices = begun
            .map(|slice| Slice {
                end_ns: slice.end_ns.min(end_ns),
                ..*slice
            })
            .collect();
        ended
    }
}

/// Lays the slices' schedule into every measured step, repeated from the step's start.
fn cut(slices: &Slices, steps: &[Span]) -> Vec<Slice> {
    let mut cut = Vec::new();
    for (number, step) in steps.iter().enumerate().filter(|(_, step)| step.measured) {
        let mut start_ns = step.start_ns;
        for &(variant, seconds) in slices.schedule.iter().cycle() {
            if start_ns >= step.end_ns {
                break;
            }
            let end_ns = start_ns
                .saturating_add(nanoseconds(seconds))
                .min(step.end_ns);
            cut.push(Slice {
                step: number,
                variant,
                start_ns,
                end_ns,
            });
            start_ns = end_ns;
        }
    }
    cut
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Steps of so many clients for so long, the first of them a warm-up.
    pub fn schedule(steps: &[(usize, i64)], interval_ns: i64, start_ns: i64) -> Schedule {
        let mut start_ns = start_ns;
        let steps = steps.iter().enumerate().map(|(n, &(clients, duration))| {
            let span = Span {
                clients,
                pools: Arc::new([clients]),
                rate: None,
                measured: n > 0,
                start_ns,
                end_ns: start_ns + duration,
            };
            start_ns = span.end_ns;
            span
        });
        Schedule {
            steps: steps.collect(),
            slices: Arc::default(),
            interval_ns,
        }
    }

    #[test]
    fn intervals_are_aligned_to_their_step_and_the_last_may_be_short() {
        let schedule = schedule(&[(2, 25), (5, 20)], 10, 1000);
        let at = |now| schedule.position(now).map(|p| (p.step, p.interval));
        assert_eq!(at(999), None);
        assert_eq!(at(1000), Some((0, 0)));
        assert_eq!(at(1009), Some((0, 0)));
        assert_eq!(at(1010), Some((0, 1)));
        assert_eq!(at(1024), Some((0, 2)));
        assert_eq!(at(1025), Some((1, 0)), "an edge belongs to the next step");
        assert_eq!(at(1044), Some((1, 1)));
        assert_eq!(at(1045), None);
        let bounds = |step, interval| {
            schedule.bounds(Position {
                step,
                interval,
                slice: None,
            })
        };
        assert_eq!(bounds(0, 2), (1020, 1025));
        assert_eq!(bounds(1, 0), (1025, 1035));
        assert_eq!(bounds(1, 1), (1035, 1045));
    }

    #[test]
    fn an_early_end_cuts_the_step_under_way_and_drops_the_rest() {
        let ended = schedule(&[(2, 25), (5, 20), (9, 20)], 10, 1000).ended_at(1030);
        assert_eq!(ended.steps.len(), 2);
        assert_eq!(ended.end_ns(), 1030);
        assert_eq!(
            ended.bounds(Position {
                step: 1,
                interval: 0,
                slice: None,
            }),
            (1025, 1030)
        );
    }

    #[test]
    fn an_end_before_the_start_leaves_an_empty_step() {
        let ended = schedule(&[(2, 25), (5, 20)], 10, 1000).ended_at(7);
        assert_eq!(
            (ended.steps.len(), ended.start_ns(), ended.end_ns()),
            (1, 1000, 1000)
        );
    }

    #[test]
    fn a_step_without_an_end_has_whole_intervals_for_ever() {
        let mut schedule = schedule(&[(1, 1)], 10, 0);
        schedule.steps[0].end_ns = i64::MAX;
        assert_eq!(
            schedule.bounds(Position {
                step: 0,
                interval: 7,
                slice: None,
            }),
            (70, 80)
        );
        assert_eq!(schedule.position(75).map(|p| p.interval), Some(7));
    }

    #[test]
    fn slices_begin_anew_in_each_measured_step_and_cut_its_intervals() {
        let mut schedule = schedule(&[(2, 20), (5, 30), (5, 12)], 10, 1000);
        let slices = Slices {
            variants: Vec::new(),
            schedule: vec![(0, 8e-9), (1, 16e-9)],
        };
        schedule.slices = cut(&slices, &schedule.steps).into();
        let found: Vec<_> = schedule
            .slices
            .iter()
            .map(|s| (s.step, s.variant, s.end_ns))
            .collect();
        let expected = [
            (1, 0, 1028),
            (1, 1, 1044),
            (1, 0, 1050),
            (2, 0, 1058),
            (2, 1, 1062),
        ];
        assert_eq!(found, expected);
        let mut edges = Vec::new();
        let mut now_ns = 1000;
        while let Some(position) = schedule.position(now_ns) {
            assert_eq!(schedule.bounds(position).0, now_ns);
            now_ns = schedule.bounds(position).1;
            edges.push((now_ns, position.slice));
        }
        assert_eq!(
            edges[..4],
            [(1010, None), (1020, None), (1028, Some(0)), (1030, Some(1))]
        );
        assert_eq!(edges.last(), Some(&(1062, Some(4))));
        assert_eq!(schedule.ended_at(1045).slices.len(), 3);
    }
}
