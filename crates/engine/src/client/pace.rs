//! When a client begins its next transaction, and on which session.
//!
//! Enters: the time, and what the schedule, the arrivals and the slices ask for. Leaves: a
//! transaction begun, a timer, or a wish for a new session. Never: waits.

use std::sync::Arc;

use pgassay_session::clock;

use super::{Bench, Client, State};
use crate::arrivals::Arrivals;
use crate::config::{Configuration, Pools, Reconnect, ThinkTime};
use crate::log::{Fate, Log};
use crate::random::{Purpose, Random};
use crate::record::Attempt;
use crate::timers::Timers;
use crate::variant::Variant;

/// What governs the clients of one worker between their transactions.
pub struct Pace<'p> {
    pub arrivals: Arc<Arrivals>,
    pub variants: &'p [Variant],
    pub timers: Timers,
    pub log: Option<Log>,
    pub max_tries: u32,
    pub reconnect: Reconnect,
    pub exit_on_abort: bool,
    pub verbose_errors: bool,
    pools: Pools,
    think_time: ThinkTime,
    think_time_ns: f64,
    /// Places whose session has had its transaction, and those that want another.
    pub closing: Vec<usize>,
    pub wanted: Vec<usize>,
    /// Why the load as a whole is of no use.
    pub fatal: Option<String>,
}

impl<'p> Pace<'p> {
    #[must_use]
    pub fn new(
        configuration: &Configuration,
        variants: &'p [Variant],
        arrivals: Arc<Arrivals>,
        log: Option<Log>,
        clients: usize,
    ) -> Pace<'p> {
        Pace {
            arrivals,
            variants,
            timers: Timers::new(clients),
            log,
            max_tries: configuration.max_tries,
            reconnect: configuration.reconnect,
            exit_on_abort: configuration.exit_on_abort,
            verbose_errors: configuration.verbose_errors,
            pools: configuration.pools,
            think_time: configuration.think_time,
            think_time_ns: configuration.think_time_s * 1e9,
            closing: Vec::new(),
            wanted: Vec::new(),
            fatal: None,
        }
    }

    /// Whether more is done with a failure than to count it.
    #[must_use]
    pub fn tells_failures(&self) -> bool {
        self.exit_on_abort || self.verbose_errors
    }
}

/// An arrival that is a client's to serve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    step: usize,
    due_ns: i64,
    /// Claimed by a client at rest before its time.
    is_ahead: bool,
}

/// What a client holds between its transactions.
pub(super) struct Rest {
    claim: Option<Claim>,
    think: Random,
    /// Not before then, whatever else.
    pub(super) until_ns: i64,
    /// Of the timer set last.
    timer_ns: i64,
    /// Since when nothing is under way.
    since_ns: i64,
    /// Arrivals before then found the scenario shut out by the slice.
    barred_until_ns: i64,
    /// When the session was lost, while it is.
    pub(super) lost_ns: Option<i64>,
    pub(super) pause_ns: i64,
}

impl Rest {
    pub(super) fn new(number: usize, seed: u64) -> Rest {
        Rest {
            claim: None,
            think: Random::new(seed, number, Purpose::Think),
            until_ns: i64::MIN,
            timer_ns: i64::MIN,
            since_ns: i64::MIN,
            barred_until_ns: i64::MIN,
            lost_ns: None,
            pause_ns: 0,
        }
    }

    /// A transaction has ended.
    pub(super) fn begin(&mut self, now_ns: i64, pause_ns: i64, pace: &Pace<'_>) {
        self.since_ns = now_ns;
        let think_ns = match pace.think_time {
            _ if pace.think_time_ns <= 0.0 => 0,
            ThinkTime::Constant => pace.think_time_ns as i64,
            ThinkTime::Exponential => (pace.think_time_ns * self.think.gap()) as i64,
        };
        self.until_ns = now_ns.saturating_add(think_ns.max(pause_ns));
    }
}

enum Next {
    /// As soon as the last one has ended.
    Now,
    /// At this moment, which may have passed.
    At(Claim),
    Never,
}

impl Client {
    /// Does what the schedule wants of a client at rest: called when a transaction has ended,
    /// at the edges of steps and slices, and when a timer is due.
    pub fn go_on(&mut self, now_ns: i64, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        match self.state {
            State::Idle => {}
            State::Sleeping => return self.wake(now_ns, bench, output),
            State::Lost => return self.seek(now_ns, bench),
            _ => return,
        }
        bench.recorder.advance(now_ns);
        if !self.may_begin(bench) {
            return self.stand_by(bench);
        }
        if let Some(slice) = bench.recorder.slice().copied() {
            if self.seat.home.is_some_and(|home| home != slice.variant) {
                // Another server's turn; the next slice of its own is a beginning again.
                self.variant = None;
                return self.stand_by(bench);
            }
            if self.is_open && self.variant != Some(slice.variant) {
                self.switch(slice.variant, now_ns, bench, output);
                if self.state != State::Idle {
                    return;
                }
            }
            if self.is_barred(slice.variant, bench) {
                self.rest.barred_until_ns = slice.end_ns;
                return self.stand_by(bench);
            }
        }
        if now_ns < self.rest.until_ns {
            self.wake_at(self.rest.until_ns, bench);
            return bench.board.leave(self.number);
        }
        let claim = match self.next(now_ns, bench) {
            Next::Never => return self.stand_by(bench),
            Next::Now => None,
            Next::At(claim) if claim.due_ns > now_ns => {
                self.wake_at(claim.due_ns, bench);
                return bench.board.leave(self.number);
            }
            Next::At(claim) => Some(claim),
        };
        if !self.is_open {
            if let Some(claim) = &mut self.rest.claim {
                claim.is_ahead = false;
            }
            self.state = State::Opening;
            return bench.pace.wanted.push(self.place);
        }
        self.rest.claim = None;
        if let Some(claim) = claim.filter(|claim| claim.is_ahead) {
            bench.recorder.began_on_time(claim.due_ns, now_ns);
        }
        self.begin(claim.map(|claim| claim.due_ns), now_ns, bench, output);
    }

    /// Nothing to do before the next edge of a step or slice.
    fn stand_by(&mut self, bench: &mut Bench<'_>) {
        let step = bench.recorder.position().map(|position| position.step);
        if let Some(claim) = self.rest.claim.filter(|claim| Some(claim.step) != step) {
            bench.recorder.drop_arrival(claim.step);
            self.rest.claim = None;
        }
        bench.board.leave(self.number);
    }

    pub(super) fn wake_at(&mut self, time_ns: i64, bench: &mut Bench<'_>) {
        if self.rest.timer_ns != time_ns {
            self.rest.timer_ns = time_ns;
            bench.pace.timers.set(time_ns, self.place);
        }
    }

    fn is_barred(&self, variant: usize, bench: &Bench<'_>) -> bool {
        let variant = bench.pace.variants.get(variant);
        bench.pace.pools == Pools::PerScenario
            && variant.is_some_and(|variant| !variant.allows(self.seat.pool))
    }

    /// Which scenario is to run next.
    fn choose(&mut self, bench: &Bench<'_>) -> usize {
        if bench.pace.pools == Pools::PerScenario {
            return self.seat.pool;
        }
        let slice = bench.recorder.slice();
        let variant = slice.and_then(|slice| bench.pace.variants.get(slice.variant));
        let mix = variant.map_or(&bench.program.mix, |variant| &variant.mix);
        mix.choose(&mut self.choice)
    }

    /// The next arrival that is still worth beginning.
    fn next(&mut self, now_ns: i64, bench: &mut Bench<'_>) -> Next {
        let Some(position) = bench.recorder.position() else {
            return Next::Never;
        };
        let step = position.step;
        if let Some(claim) = self.rest.claim.filter(|claim| claim.step != step) {
            bench.recorder.drop_arrival(claim.step);
            self.rest.claim = None;
        }
        if !bench.pace.arrivals.are_asked(step, self.seat.pool) {
            return Next::Now;
        }
        let limit_ns = bench.recorder.latency_limit_ns();
        loop {
            let claim = match self.rest.claim.take() {
                Some(claim) => claim,
                None => match bench.pace.arrivals.claim(step, self.seat.pool) {
                    None => return Next::Never,
                    Some(due_ns) => Claim {
                        step,
                        due_ns,
                        is_ahead: due_ns > now_ns,
                    },
                },
            };
            if claim.due_ns < self.rest.barred_until_ns {
                bench.recorder.drop_arrival(step);
            } else if limit_ns.is_some_and(|limit_ns| now_ns - claim.due_ns > limit_ns) {
                self.skip(claim.due_ns, now_ns, bench);
                if bench.quota.is_some_and(|quota| self.done >= quota) {
                    return Next::Never;
                }
            } else {
                self.rest.claim = Some(claim);
                return Next::At(claim);
            }
        }
    }

    fn skip(&mut self, due_ns: i64, now_ns: i64, bench: &mut Bench<'_>) {
        let attempt = Attempt {
            scenario: self.choose(bench),
            due_ns: Some(due_ns),
            began_ns: now_ns,
            ..Attempt::default()
        };
        bench.recorder.skip(attempt.scenario);
        self.done += 1;
        self.write_log(now_ns, &attempt, Fate::Skipped, bench);
    }

    fn begin(
        &mut self,
        due_ns: Option<i64>,
        now_ns: i64,
        bench: &mut Bench<'_>,
        output: &mut Vec<u8>,
    ) {
        if bench.recorder.is_measured() {
            self.measured.get_or_insert(0);
        }
        let scenario = self.choose(bench);
        self.interpreter.begin(scenario);
        if bench.pace.max_tries != 1 {
            self.interpreter.keep_beginning();
        }
        self.attempt = Attempt {
            scenario,
            due_ns,
            began_ns: now_ns,
            slice: bench
                .recorder
                .position()
                .and_then(|position| position.slice),
            tries: 1,
        };
        // Scenarios were checked to be fewer than 2^16.
        let scenario = u16::try_from(scenario).unwrap_or(u16::MAX);
        bench.board.enter(self.number, scenario);
        self.proceed(bench, output);
    }

    /// Turns the session to a variant before its next transaction.
    fn switch(&mut self, variant: usize, now_ns: i64, bench: &mut Bench<'_>, output: &mut Vec<u8>) {
        bench.recorder.switch(self.rest.since_ns, now_ns);
        self.variant = Some(variant);
        if let Some(variant) = bench.pace.variants.get(variant)
            && variant.query_count > 0
        {
            output.extend_from_slice(&variant.queries);
            self.state = State::Switching(variant.query_count);
        }
    }

    /// The server has answered one statement of a variant.
    pub(super) fn switched(
        &mut self,
        left: usize,
        problem: Option<String>,
        bench: &mut Bench<'_>,
        output: &mut Vec<u8>,
    ) {
        if let Some(problem) = problem {
            let variants = bench.pace.variants;
            let name = self.variant.and_then(|variant| variants.get(variant));
            let name = name.map_or("?", |variant| &variant.name);
            let problem = format!("the SQL of the slice variant {name:?} was refused: {problem}");
            bench.pace.fatal.get_or_insert(problem);
        }
        if left > 0 {
            self.state = State::Switching(left);
            return;
        }
        self.state = State::Idle;
        self.go_on(clock::now_ns(), bench, output);
    }

    pub(super) fn write_log(
        &self,
        now_ns: i64,
        attempt: &Attempt,
        fate: Fate,
        bench: &mut Bench<'_>,
    ) {
        if let Some(log) = &mut bench.pace.log
            && bench.recorder.is_measured()
        {
            log.write(now_ns, self.number, self.done, attempt, fate);
        }
    }
}
