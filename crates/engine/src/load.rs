//! One load from its configuration to its result: the handle that callers hold.
//!
//! Enters: a configuration; requests to connect, start, stop. Leaves: progress while it runs,
//! an [`Outcome`] when it has ended. Never: runs twice, or blocks for longer than asked.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pgassay_session::board::Board;
use pgassay_session::{Stream, clock};
use serde::Serialize;

use crate::client::{Bench, Client};
use crate::config::Configuration;
use crate::connect::open_clients;
use crate::error::EngineError;
use crate::network::{Backend, Epoll, Network, Uring};
use crate::outcome::Outcome;
use crate::program::Program;
use crate::progress::Shared;
use crate::record::{Recorder, Report};
use crate::schedule::Schedule;
use crate::worker::Worker;

/// Time for the threads to be ready when the schedule begins.
const LEAD_NS: i64 = 5_000_000;

pub struct Load {
    setup: Arc<Setup>,
    shared: Arc<Shared>,
    running: Arc<Running>,
    state: Mutex<State>,
}

struct Setup {
    configuration: Configuration,
    program: Program,
    board: Arc<Board>,
    threads: usize,
    backend: Backend,
}

enum State {
    New,
    Connected(Vec<(Client, Stream)>),
    Started {
        schedule: Schedule,
        workers: Vec<JoinHandle<Result<Report, String>>>,
    },
    Ended(Arc<Outcome>),
    Failed(String),
}

/// How many workers run, and a bell for those who wait for none.
#[derive(Default)]
struct Running {
    workers: Mutex<usize>,
    changed: Condvar,
}

/// What a load has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Progress {
    pub elapsed_s: f64,
    pub step: usize,
    pub clients: usize,
    pub measured: bool,
    pub transactions: u64,
    pub failed: u64,
    pub tps: f64,
}

impl Load {
    pub fn new(json: &str) -> Result<Load, EngineError> {
        let configuration = Configuration::parse(json)?;
        let program = Program::compile(&configuration)?;
        let names = program.scenarios.iter().map(|s| s.name.clone()).collect();
        let connections = configuration.connections();
        let threads = configuration.threads.min(connections);
        let backend = configuration.transport.choose()?;
        Ok(Load {
            setup: Arc::new(Setup {
                configuration,
                program,
                board: Board::new(connections, names),
                threads,
                backend,
            }),
            shared: Shared::new(threads),
            running: Arc::default(),
            state: Mutex::new(State::New),
        })
    }

    /// Which backend runs which scenario, for a sampler.
    #[must_use]
    pub fn board(&self) -> Arc<Board> {
        Arc::clone(&self.setup.board)
    }

    /// Opens every connection.
    pub fn connect(&self) -> Result<(), EngineError> {
        let mut state = self.state();
        if !matches!(*state, State::New) {
            return Err(EngineError::Misuse(
                "the load is connected already; make a new Load for another run",
            ));
        }
        let setup = &self.setup;
        let clients = open_clients(&setup.configuration, &setup.program, &setup.board)?;
        *state = State::Connected(clients);
        Ok(())
    }

    /// Begins the schedule and returns.
    pub fn start(&self) -> Result<(), EngineError> {
        let mut state = self.state();
        let connections = match std::mem::replace(&mut *state, State::New) {
            State::Connected(connections) => connections,
            other => {
                let message = if matches!(other, State::New) {
                    "call connect() before start()"
                } else {
                    "the load has been started already; make a new Load for another run"
                };
                *state = other;
                return Err(EngineError::Misuse(message));
            }
        };
        let start_ns = clock::now_ns() + LEAD_NS;
        let schedule = Schedule::new(&self.setup.configuration, start_ns);
        let mut shares: Vec<Vec<_>> = (0..self.setup.threads).map(|_| Vec::new()).collect();
        for (number, connection) in connections.into_iter().enumerate() {
            if let Some(share) = shares.get_mut(number % self.setup.threads) {
                share.push(connection);
            }
        }
        let mut workers = Vec::new();
        for (worker, share) in shares.into_iter().enumerate() {
            match self.spawn(worker, share, schedule.clone()) {
                Ok(handle) => workers.push(handle),
                Err(error) => {
                    // Those that run must not go on without the rest.
                    self.shared.limit(0);
                    let problem = format!("cannot start a thread: {error}");
                    *state = State::Failed(problem.clone());
                    return Err(EngineError::Worker(problem));
                }
            }
        }
        *state = State::Started { schedule, workers };
        Ok(())
    }

    fn spawn(
        &self,
        worker: usize,
        connections: Vec<(Client, Stream)>,
        schedule: Schedule,
    ) -> io::Result<JoinHandle<Result<Report, String>>> {
        let setup = Arc::clone(&self.setup);
        let shared = Arc::clone(&self.shared);
        let present = Present::new(&self.running);
        thread::Builder::new()
            .name(format!("pgassay-load-{worker}"))
            .spawn(move || {
                let _present = present;
                let run = || run_worker(&setup, &shared, worker, connections, schedule);
                let report = match catch_unwind(AssertUnwindSafe(run)) {
                    Ok(report) => report,
                    Err(panic) => Err(format!("it panicked: {}", panic_text(&*panic))),
                };
                if report.is_err() {
                    // What the others would still count is of no use.
                    shared.limit(clock::now_ns());
                }
                report
            })
    }

    /// Asks for an early end.
    pub fn stop(&self) {
        self.shared.limit(clock::now_ns());
    }

    /// Waits for the end, at most for `timeout`; true when the load has ended.
    pub fn wait(&self, timeout: Duration) -> Result<bool, EngineError> {
        if matches!(*self.state(), State::New | State::Connected(_)) {
            return Err(EngineError::Misuse("call start() before wait()"));
        }
        Ok(self.running.wait_for_none(timeout))
    }

    #[must_use]
    pub fn progress(&self) -> Progress {
        let totals = self.shared.totals();
        let state = self.state();
        let schedule = match &*state {
            State::Started { schedule, .. } => Some(schedule),
            State::Ended(outcome) => Some(&outcome.schedule),
            _ => None,
        };
        let mut progress = Progress {
            elapsed_s: 0.0,
            step: 0,
            clients: 0,
            measured: false,
            transactions: totals.transactions,
            failed: totals.failed,
            tps: 0.0,
        };
        let Some(schedule) = schedule else {
            return progress;
        };
        let end_ns = schedule.end_ns().min(self.shared.limit_ns());
        let now_ns = clock::now_ns().clamp(schedule.start_ns(), end_ns.max(schedule.start_ns()));
        progress.elapsed_s = (now_ns - schedule.start_ns()) as f64 / 1e9;
        // At the very end the last step is still the one to show.
        let position = schedule.position(now_ns.min(end_ns.saturating_sub(1)));
        let step = position.map_or(0, |position| position.step);
        if let Some(span) = schedule.steps.get(step) {
            progress.step = step;
            progress.clients = span.clients;
            progress.measured = span.measured;
        }
        if let Some(position) = schedule.position(totals.interval_start_ns) {
            let (start_ns, end_ns) = schedule.bounds(position);
            progress.tps = totals.interval_transactions as f64 * 1e9 / (end_ns - start_ns) as f64;
        }
        progress
    }

    /// What came of it, once ended.
    pub fn outcome(&self) -> Result<Arc<Outcome>, EngineError> {
        let mut state = self.state();
        if let State::Started { .. } = *state {
            if !self.running.wait_for_none(Duration::ZERO) {
                return Err(EngineError::Misuse("the load has not ended; wait() for it"));
            }
            if let State::Started { schedule, workers } = std::mem::replace(&mut *state, State::New)
            {
                *state = match join(workers) {
                    Ok(reports) => State::Ended(Arc::new(Outcome::new(
                        &self.setup.configuration,
                        schedule,
                        self.shared.limit_ns(),
                        reports,
                    ))),
                    Err(problem) => State::Failed(problem),
                };
            }
        }
        match &*state {
            State::Ended(outcome) => Ok(Arc::clone(outcome)),
            State::Failed(problem) => Err(EngineError::Worker(problem.clone())),
            _ => Err(EngineError::Misuse("the load has not been started")),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is whole at every moment a panic could leave it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run_worker(
    setup: &Setup,
    shared: &Arc<Shared>,
    worker: usize,
    connections: Vec<(Client, Stream)>,
    schedule: Schedule,
) -> Result<Report, String> {
    let scenarios = setup.program.scenarios.len();
    let recorder = Recorder::new(schedule, scenarios, Arc::clone(shared), worker)
        .map_err(|error| format!("no histogram: {error}"))?;
    let bench = Bench {
        program: &setup.program,
        board: Arc::clone(&setup.board),
        recorder,
        quota: setup.configuration.transactions_per_client,
        stack: Vec::with_capacity(64),
        has_paused: false,
    };
    match setup.backend {
        Backend::Epoll => work(Epoll::new(), connections, bench),
        Backend::Uring => work(Uring::new(connections.len()), connections, bench),
    }
    .map_err(|error| format!("its event loop failed: {error}"))
}

fn work<N: Network>(
    network: io::Result<N>,
    connections: Vec<(Client, Stream)>,
    bench: Bench<'_>,
) -> io::Result<Report> {
    Worker::new(network?, connections, bench)?.run()
}

fn join(workers: Vec<JoinHandle<Result<Report, String>>>) -> Result<Vec<Report>, String> {
    workers
        .into_iter()
        .map(|worker| match worker.join() {
            Ok(report) => report,
            Err(panic) => Err(format!("it panicked: {}", panic_text(&*panic))),
        })
        .collect()
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

/// One running worker, counted from before its thread begins until it ends, however it ends.
struct Present(Arc<Running>);

impl Present {
    fn new(running: &Arc<Running>) -> Present {
        *running.count() += 1;
        Present(Arc::clone(running))
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        let mut count = self.0.count();
        *count = count.saturating_sub(1);
        self.0.changed.notify_all();
    }
}

impl Running {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_none(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut count = self.count();
        while *count > 0 {
            let left = match deadline {
                Some(deadline) => deadline.saturating_duration_since(Instant::now()),
                None => Duration::from_secs(3600),
            };
            if left.is_zero() {
                return false;
            }
            count = match self.changed.wait_timeout(count, left) {
                Ok((count, _)) => count,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        true
    }
}
