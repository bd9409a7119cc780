//! When what is to run: steps laid on the time axis and cut into intervals.
//!
//! Enters: the configuration and the time of the start. Leaves: positions, each an interval of a
//! step. Never: reads a clock. Spans include their start and not their end.

use crate::config::Configuration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub clients: usize,
    pub measured: bool,
    pub start_ns: i64,
    /// `i64::MAX` where a count of transactions ends the step, not the clock.
    pub end_ns: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub steps: Vec<Span>,
    pub interval_ns: i64,
}

/// One interval of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub step: usize,
    /// Counted within the step: intervals are aligned to its start.
    pub interval: usize,
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
                measured: step.measured,
                start_ns,
                end_ns,
            };
            start_ns = end_ns;
            span
        });
        Schedule {
            steps: steps.collect(),
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

    /// The position of a moment; `None` before the start and from the end on.
    #[must_use]
    pub fn position(&self, now_ns: i64) -> Option<Position> {
        let step = self
            .steps
            .iter()
            .position(|step| (step.start_ns..step.end_ns).contains(&now_ns))?;
        let since = now_ns - self.steps.get(step)?.start_ns;
        let interval = usize::try_from(since / self.interval_ns).ok()?;
        Some(Position { step, interval })
    }

    /// Where an interval begins and ends; the last of a step may be short.
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
        (at(position.interval), at(position.interval + 1))
    }

    /// The same schedule, ended at `end_ns`; steps that had not begun are left out, but the
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
        ended
    }
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
                measured: n > 0,
                start_ns,
                end_ns: start_ns + duration,
            };
            start_ns = span.end_ns;
            span
        });
        Schedule {
            steps: steps.collect(),
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
        let bounds = |step, interval| schedule.bounds(Position { step, interval });
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
                interval: 0
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
                interval: 7
            }),
            (70, 80)
        );
        assert_eq!(schedule.position(75).map(|p| p.interval), Some(7));
    }
}
