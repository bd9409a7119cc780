//! The handle of one load, from its configuration to its result.
//!
//! Enters: a configuration; requests to connect, start, stop. Leaves: progress while it runs,
//! an [`Outcome`] when it has ended. Never: runs twice, or blocks for longer than asked.

use std::any::Any;
use std::io;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pgassay_session::board::Board;
use pgassay_session::{Stream, clock};

use crate::client::{Client, Pace, WorkerContext};
use crate::error::EngineError;
use crate::log::Log;
use crate::network::{Backend, BusyPoll, Epoll, Network, Uring};
use crate::outcome::{LoadTimes, Outcome, ShareReport};
use crate::parameters::Rows;
use crate::progress::Progress;
use crate::record::progress::Shared;
use crate::record::{Recorder, Report, Scope};
use crate::schedule::Schedule;
use crate::schedule::arrivals::Arrivals;
use crate::setup::Setup;
use crate::worker::Worker;
use crate::worker::clients::open_clients;
use crate::worker::running::{Running, RunningGuard};

/// Time for the threads to be ready when the schedule begins.
pub(crate) const LEAD_NS: i64 = 5_000_000;

pub struct Load {
    setup: Arc<Setup>,
    shared: Arc<Shared>,
    /// Time that connecting took.
    connect_ns: AtomicI64,
    running: Arc<Running>,
    state: Mutex<State>,
}

enum State {
    New,
    Connected(Backend, Vec<(Client, Stream)>),
    Started {
        schedule: Schedule,
        arrivals: Arc<Arrivals>,
        workers: Vec<JoinHandle<Result<Report, String>>>,
    },
    Ended(Arc<Outcome>),
    Failed(String),
}

impl Load {
    pub fn new(json: &str) -> Result<Load, EngineError> {
        Load::with_rows(json, &[])
    }

    /// A load with the rows of each scenario's parameters, in the order of the scenarios.
    pub fn with_rows(json: &str, rows: &[Option<Arc<Rows>>]) -> Result<Load, EngineError> {
        let setup = Setup::new(json, rows)?;
        Ok(Load {
            shared: Shared::new(setup.threads),
            setup,
            connect_ns: AtomicI64::new(0),
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
        let begun_ns = clock::now_ns();
        let clients = open_clients(&self.setup)?;
        let taken_ns = clock::now_ns() - begun_ns;
        self.connect_ns.store(taken_ns, Ordering::Relaxed);
        let backend = self
            .setup
            .backend_of(clients.iter().map(|(_, stream)| stream))?;
        *state = State::Connected(backend, clients);
        Ok(())
    }

    /// Begins the schedule and returns: at a time of the module's axis, or as soon as possible
    /// without one or after it.
    pub fn start(&self, at_ns: Option<i64>) -> Result<(), EngineError> {
        let mut state = self.state();
        let (backend, connections) = match std::mem::replace(&mut *state, State::New) {
            State::Connected(backend, connections) => (backend, connections),
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
        let soonest_ns = clock::now_ns() + LEAD_NS;
        let start_ns = at_ns.map_or(soonest_ns, |at_ns| at_ns.max(soonest_ns));
        let schedule = Schedule::new(&self.setup.configuration, start_ns);
        let arrivals = Arc::new(Arrivals::new(&self.setup.configuration, &schedule));
        let threads = self.setup.threads;
        let share = self.setup.configuration.share;
        let mut by_thread: Vec<Vec<_>> = (0..threads).map(|_| Vec::new()).collect();
        for connection in connections {
            // By ordinal, so that each thread has equally many clients of every server.
            let place = share.place(connection.0.assignment.ordinal);
            if let Some(own) = by_thread.get_mut(place % threads) {
                own.push(connection);
            }
        }
        let mut workers = Vec::new();
        for (worker, own) in by_thread.into_iter().enumerate() {
            match self.spawn(worker, backend, own, schedule.clone(), &arrivals) {
                Ok(handle) => workers.push(handle),
                Err(error) => {
                    // Threads that run already must stop if another cannot start.
                    self.shared.limit(0);
                    let problem = format!("cannot start a thread: {error}");
                    *state = State::Failed(problem.clone());
                    return Err(EngineError::Worker(problem));
                }
            }
        }
        *state = State::Started {
            schedule,
            arrivals,
            workers,
        };
        Ok(())
    }

    fn spawn(
        &self,
        worker: usize,
        backend: Backend,
        connections: Vec<(Client, Stream)>,
        schedule: Schedule,
        arrivals: &Arc<Arrivals>,
    ) -> io::Result<JoinHandle<Result<Report, String>>> {
        let setup = Arc::clone(&self.setup);
        let shared = Arc::clone(&self.shared);
        let arrivals = Arc::clone(arrivals);
        let present = RunningGuard::new(&self.running);
        thread::Builder::new()
            .name(format!("pgassay-load-{worker}"))
            .spawn(move || {
                let _present = present;
                let clients = connections.len();
                let context =
                    || worker_context(&setup, &shared, &arrivals, worker, clients, schedule);
                let run = || run_worker(&setup, backend, connections, context()?);
                let report = match catch_unwind(AssertUnwindSafe(run)) {
                    Ok(report) => report,
                    Err(panic) => Err(format!("it panicked: {}", panic_text(&*panic))),
                };
                if report.is_err() {
                    // The counts of the other workers are not needed any more.
                    shared.limit(clock::now_ns());
                }
                report
            })
    }

    /// When the schedule began; `None` before.
    #[must_use]
    pub fn started_ns(&self) -> Option<i64> {
        match &*self.state() {
            State::Started { schedule, .. } => Some(schedule.start_ns()),
            State::Ended(outcome) => Some(outcome.schedule.start_ns()),
            _ => None,
        }
    }

    /// Asks for an early end.
    pub fn stop(&self) {
        self.shared.limit(clock::now_ns());
    }

    /// Waits for the end, at most for `timeout`; true when the load has ended.
    pub fn wait(&self, timeout: Duration) -> Result<bool, EngineError> {
        if matches!(*self.state(), State::New | State::Connected(..)) {
            return Err(EngineError::Misuse("call start() before wait()"));
        }
        Ok(self.running.wait_for_none(timeout))
    }

    #[must_use]
    pub fn progress(&self) -> Progress {
        let state = self.state();
        let schedule = match &*state {
            State::Started { schedule, .. } => Some(schedule),
            State::Ended(outcome) => Some(&outcome.schedule),
            _ => None,
        };
        Progress::of(&self.shared, schedule)
    }

    /// The outcome, once the load has ended.
    pub fn outcome(&self) -> Result<Arc<Outcome>, EngineError> {
        let mut state = self.state();
        if let State::Started { .. } = *state {
            if !self.running.wait_for_none(Duration::ZERO) {
                return Err(EngineError::Misuse("the load has not ended; wait() for it"));
            }
            let started = std::mem::replace(&mut *state, State::New);
            if let State::Started {
                schedule,
                arrivals,
                workers,
            } = started
            {
                *state = match join(workers) {
                    Ok(reports) => {
                        let times = LoadTimes {
                            limit_ns: self.shared.limit_ns(),
                            connect_ns: self.connect_ns.load(Ordering::Relaxed),
                        };
                        let report = ShareReport::new(&schedule, Some(&arrivals), times, reports);
                        let (configuration, program) =
                            (&self.setup.configuration, &self.setup.program);
                        let outcome = Outcome::new(configuration, program, &schedule, report);
                        State::Ended(Arc::new(outcome))
                    }
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
        // The state is consistent wherever a panic may occur.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop();
    }
}

fn worker_context<'p>(
    setup: &'p Arc<Setup>,
    shared: &Arc<Shared>,
    arrivals: &Arc<Arrivals>,
    worker: usize,
    clients: usize,
    schedule: Schedule,
) -> Result<WorkerContext<'p>, String> {
    let configuration = &setup.configuration;
    let log = Log::open(configuration, worker, schedule.start_ns())
        .map_err(|error| format!("it cannot write the transaction log: {error}"))?;
    let limit_ms = configuration.latency_limit_ms;
    let scope = Scope {
        scenarios: setup.program.scenarios.len(),
        commands: if configuration.statements {
            setup.program.commands.len()
        } else {
            0
        },
        latency_limit_ns: limit_ms.map(|ms| (ms * 1e6) as i64),
    };
    let recorder = Recorder::new(schedule, scope, Arc::clone(shared), worker)
        .map_err(|error| format!("no histogram: {error}"))?;
    let arrivals = Arc::clone(arrivals);
    Ok(WorkerContext {
        program: &setup.program,
        board: Arc::clone(&setup.board),
        recorder,
        quota: configuration.transactions_per_client,
        stack: Vec::with_capacity(64),
        pace: Pace::new(configuration, &setup.variants, arrivals, log, clients),
    })
}

fn run_worker(
    setup: &Arc<Setup>,
    backend: Backend,
    connections: Vec<(Client, Stream)>,
    context: WorkerContext<'_>,
) -> Result<Report, String> {
    // Timers fire within their resolution instead of the default slack of 50 µs. If the system
    // refuses, they are a little later.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1000));
    let poll = BusyPoll::new(setup.configuration.busy_poll());
    match backend {
        Backend::Epoll => work(Epoll::new(poll), connections, context, setup),
        Backend::Uring => work(
            Uring::new(connections.len(), poll),
            connections,
            context,
            setup,
        ),
    }
    .map_err(|error| error.to_string())
}

fn work<N: Network>(
    network: io::Result<N>,
    connections: Vec<(Client, Stream)>,
    context: WorkerContext<'_>,
    setup: &Arc<Setup>,
) -> io::Result<Report> {
    Worker::new(network?, connections, context, setup)?.run()
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

pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
