//! Decides when a client begins its next transaction, and on which session.
//!
//! Enters: the time, the schedule, the arrivals and the slices. Leaves: a transaction begun, a
//! timer, or a request for a new session. Never: waits.

use std::sync::Arc;

use pgassay_session::clock;

use super::{Client, State, WorkerContext};
use crate::config::{Configuration, Pools, Reconnect, ThinkTime};
use crate::log::{Log, TransactionEnd};
use crate::random::{Purpose, Random};
use crate::record::Attempt;
use crate::schedule::arrivals::Arrivals;
use crate::schedule::timers::Timers;
use crate::setup::variant::Variant;

/// The rules and state for the clients of one worker between their transactions.
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
    /// Clients whose session is to be closed after its transaction, and those that need another.
    pub closing: Vec<usize>,
    pub wanted: Vec<usize>,
    /// Whether running statements have been cancelled: no other is to begin.
    pub is_over: bool,
    /// Why the load ends without a result.
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
            is_over: false,
            fatal: None,
        }
    }

    /// Whether failures are reported or end the load.
    #[must_use]
    pub fn reports_failures(&self) -> bool {
        self.exit_on_abort || self.verbose_errors
    }
}

/// An arrival that a client has claimed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    step: usize,
    due_ns: i64,
    /// Claimed ahead of its time by an idle client.
    is_ahead: bool,
}

/// The state of a client between its transactions.
pub(super) struct IdleState {
    claim: Option<Claim>,
    think: Random,
    /// No transaction begins before this time.
    pub(super) until_ns: i64,
    /// Time of the latest timer.
    timer_ns: i64,
    /// Since when the client is idle.
    since_ns: i64,
    /// Until this time the slice excluded the scenario; earlier arrivals are not served.
    excluded_until_ns: i64,
    /// When the session was lost; none while it is open.
    pub(super) lost_ns: Option<i64>,
    pub(super) pause_ns: i64,
}

impl IdleState {
    pub(super) fn new(number: usize, seed: u64) -> IdleState {
        IdleState {
            claim: None,
            think: Random::new(seed, number, Purpose::Think),
            until_ns: i64::MIN,
            timer_ns: i64::MIN,
            since_ns: i64::MIN,
            excluded_until_ns: i64::MIN,
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
    /// At this time, which may have passed.
    At(Claim),
    Never,
}

impl Client {
    /// Begins the next transaction of an idle client or sets a timer: called when a transaction
    /// has ended, at the edges of steps and slices, and when a timer is due.
    pub fn run_idle(&mut self, now_ns: i64, context: &mut WorkerContext<'_>, output: &mut Vec<u8>) {
        match self.state {
            State::Idle => {}
            State::Sleeping => return self.wake(now_ns, context, output),
            State::Lost => return self.schedule_reopen(now_ns, context),
            _ => return,
        }
        context.recorder.advance(now_ns);
        if !self.may_begin(context) {
            return self.wait_for_next_edge(context);
        }
        if context.recorder.is_measured() {
            self.measured.get_or_insert(0);
        }
        if let Some(slice) = context.recorder.slice().copied() {
            if self
                .assignment
                .server_variant
                .is_some_and(|server_variant| server_variant != slice.variant)
            {
                // The slice belongs to another server; the client starts afresh in its next slice.
                self.variant = None;
                return self.wait_for_next_edge(context);
            }
            if self.is_open && self.variant != Some(slice.variant) {
                self.switch(slice.variant, now_ns, context, output);
                if self.state != State::Idle {
                    return;
                }
            }
            if self.is_excluded(slice.variant, context) {
                self.idle.excluded_until_ns = slice.end_ns;
                return self.wait_for_next_edge(context);
            }
        }
        if now_ns < self.idle.until_ns {
            self.wake_at(self.idle.until_ns, context);
            return context.board.leave(self.slot);
        }
        let claim = match self.next(now_ns, context) {
            Next::Never => return self.wait_for_next_edge(context),
            Next::Now => None,
            Next::At(claim) if claim.due_ns > now_ns => {
                self.wake_at(claim.due_ns, context);
                return context.board.leave(self.slot);
            }
            Next::At(claim) => Some(claim),
        };
        if !self.is_open {
            if let Some(claim) = &mut self.idle.claim {
                claim.is_ahead = false;
            }
            self.state = State::Opening;
            return context.pace.wanted.push(self.place);
        }
        self.idle.claim = None;
        if let Some(claim) = claim.filter(|claim| claim.is_ahead) {
            context.recorder.began_on_time(claim.due_ns, now_ns);
        }
        self.begin(claim.map(|claim| claim.due_ns), now_ns, context, output);
    }

    /// Leaves the client idle until the next edge of a step or slice.
    fn wait_for_next_edge(&mut self, context: &mut WorkerContext<'_>) {
        let step = context.recorder.position().map(|position| position.step);
        if let Some(claim) = self.idle.claim.filter(|claim| Some(claim.step) != step) {
            context.recorder.drop_arrival(claim.step);
            self.idle.claim = None;
        }
        context.board.leave(self.slot);
    }

    pub(super) fn wake_at(&mut self, time_ns: i64, context: &mut WorkerContext<'_>) {
        if self.idle.timer_ns != time_ns {
            self.idle.timer_ns = time_ns;
            context.pace.timers.set(time_ns, self.place);
        }
    }

    fn is_excluded(&self, variant: usize, context: &WorkerContext<'_>) -> bool {
        let variant = context.pace.variants.get(variant);
        context.pace.pools == Pools::PerScenario
            && variant.is_some_and(|variant| !variant.allows(self.assignment.pool))
    }

    /// Chooses the next scenario.
    fn choose(&mut self, context: &WorkerContext<'_>) -> usize {
        if context.pace.pools == Pools::PerScenario {
            return self.assignment.pool;
        }
        let slice = context.recorder.slice();
        let variant = slice.and_then(|slice| context.pace.variants.get(slice.variant));
        let mix = variant.map_or(&context.program.mix, |variant| &variant.mix);
        mix.choose(&mut self.choice)
    }

    /// The next arrival that is within the latency limit; later ones are skipped.
    fn next(&mut self, now_ns: i64, context: &mut WorkerContext<'_>) -> Next {
        let Some(position) = context.recorder.position() else {
            return Next::Never;
        };
        let step = position.step;
        if let Some(claim) = self.idle.claim.filter(|claim| claim.step != step) {
            context.recorder.drop_arrival(claim.step);
            self.idle.claim = None;
        }
        if !context.pace.arrivals.has_rate(step, self.assignment.pool) {
            return Next::Now;
        }
        let limit_ns = context.recorder.latency_limit_ns();
        loop {
            let claim = match self.idle.claim.take() {
                Some(claim) => claim,
                None => match context.pace.arrivals.claim(step, self.assignment.pool) {
                    None => return Next::Never,
                    Some(due_ns) => Claim {
                        step,
                        due_ns,
                        is_ahead: due_ns > now_ns,
                    },
                },
            };
            if claim.due_ns < self.idle.excluded_until_ns {
                context.recorder.drop_arrival(step);
            } else if limit_ns.is_some_and(|limit_ns| now_ns - claim.due_ns > limit_ns) {
                self.skip(claim.due_ns, now_ns, context);
                if context.quota.is_some_and(|quota| self.done >= quota) {
                    return Next::Never;
                }
            } else {
                self.idle.claim = Some(claim);
                return Next::At(claim);
            }
        }
    }

    fn skip(&mut self, due_ns: i64, now_ns: i64, context: &mut WorkerContext<'_>) {
        let attempt = Attempt {
            scenario: self.choose(context),
            due_ns: Some(due_ns),
            began_ns: now_ns,
            ..Attempt::default()
        };
        context.recorder.skip(attempt.scenario);
        self.done += 1;
        self.write_log(now_ns, &attempt, TransactionEnd::Skipped, context);
    }

    fn begin(
        &mut self,
        due_ns: Option<i64>,
        now_ns: i64,
        context: &mut WorkerContext<'_>,
        output: &mut Vec<u8>,
    ) {
        let scenario = self.choose(context);
        self.interpreter.begin(scenario, context.program);
        if context.pace.max_tries != 1 {
            self.interpreter.keep_beginning();
        }
        self.attempt = Attempt {
            scenario,
            due_ns,
            began_ns: now_ns,
            slice: context
                .recorder
                .position()
                .and_then(|position| position.slice),
            tries: 1,
        };
        // The configuration has fewer than 2^16 scenarios.
        let scenario = u16::try_from(scenario).unwrap_or(u16::MAX);
        context.board.enter(self.slot, scenario);
        self.proceed(context, output);
    }

    /// Sends a variant's statements before the next transaction.
    fn switch(
        &mut self,
        variant: usize,
        now_ns: i64,
        context: &mut WorkerContext<'_>,
        output: &mut Vec<u8>,
    ) {
        context.recorder.switch(self.idle.since_ns, now_ns);
        self.variant = Some(variant);
        if let Some(variant) = context.pace.variants.get(variant)
            && variant.query_count > 0
        {
            output.extend_from_slice(&variant.queries);
            self.interpreter.expect(variant.query_count);
            self.state = State::Switching;
        }
    }

    /// Handles the server's answers to the statements of a variant.
    pub(super) fn switched(
        &mut self,
        problem: Option<String>,
        context: &mut WorkerContext<'_>,
        output: &mut Vec<u8>,
    ) {
        if let Some(problem) = problem {
            let variants = context.pace.variants;
            let name = self.variant.and_then(|variant| variants.get(variant));
            let name = name.map_or("?", |variant| &variant.name);
            let problem = format!("the SQL of the slice variant {name:?} was refused: {problem}");
            context.pace.fatal.get_or_insert(problem);
        }
        self.state = State::Idle;
        self.run_idle(clock::now_ns(), context, output);
    }

    pub(super) fn write_log(
        &self,
        now_ns: i64,
        attempt: &Attempt,
        end: TransactionEnd,
        context: &mut WorkerContext<'_>,
    ) {
        if let Some(log) = &mut context.pace.log
            && context.recorder.is_measured()
        {
            log.write(now_ns, self.assignment.number, self.done, attempt, end);
        }
    }
}
