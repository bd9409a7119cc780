//! A trace replayed: the sessions of a log at their own times, each statement with its parameters.
//!
//! Enters: settings (JSON) and chunks of a trace, in order of time. Leaves: progress while it runs,
//! an [`Outcome`] and the counts of a replay when it has ended. Never: reads a file, changes a
//! statement, or keeps a text or a value of the trace in a result.
//!
//! A statement is due at its time, or when its predecessor in the session has answered, whichever
//! is later; its response time counts from then. At full speed it is due when its predecessor has
//! answered.

mod chunk;
mod counts;
mod request;
mod session;
mod worker;

use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::BytesMut;
use pgassay_session::{Connector, Endpoint, clock};
use serde::Deserialize;

pub use chunk::{Chunk, Columns, Texts};
use counts::Counts;
pub use counts::Figures;
use session::Context;
use worker::Worker;

use crate::error::EngineError;
use crate::load::{LEAD_NS, panic_text};
use crate::network::{BusyPoll, Epoll};
use crate::outcome::{LoadTimes, Outcome, ScenarioOutcome, ShareReport};
use crate::progress::Progress;
use crate::record::progress::Shared;
use crate::record::{Recorder, Report, Scope};
use crate::schedule::{Schedule, Span};
use crate::sessions::descriptors;
use crate::sessions::open::Opened;
use crate::sessions::reopen::Open;
use crate::worker::running::{Running, RunningGuard};

/// Chunks that are read ahead.
const AHEAD: usize = 2;
const NAME: &str = "replay";

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub connection: Endpoint,
    pub application_name: String,
    /// How many times as fast as at the source; null for as fast as answers come.
    pub speed: Option<f64>,
    /// The most sessions that the source had at one time.
    pub sessions: usize,
    /// Statements per second at this speed.
    pub rate: Option<f64>,
    /// How many statements are counted by their numbers, from 0.
    pub statements: usize,
    pub interval_s: f64,
    /// After this time the replay has failed.
    pub limit_s: f64,
    #[serde(default)]
    pub busy_poll_us: u32,
}

impl Settings {
    fn limit_ns(&self) -> i64 {
        (self.limit_s * 1e9) as i64
    }

    fn due_ns(&self, start_ns: i64, at_us: i64) -> i64 {
        self.speed.map_or(start_ns, |speed| {
            start_ns.saturating_add((at_us as f64 * 1e3 / speed) as i64)
        })
    }

    fn check(&self) -> Result<(), EngineError> {
        let is_above_0 = |value: f64| value.is_finite() && value > 0.0;
        let numbers = [
            ("speed", self.speed.is_none_or(is_above_0)),
            ("interval_s", is_above_0(self.interval_s)),
            ("limit_s", is_above_0(self.limit_s)),
            ("sessions", self.sessions > 0),
        ];
        match numbers.iter().find(|(_, is_right)| !is_right) {
            Some((key, _)) => Err(EngineError::configuration(*key, "give a number above 0")),
            None => Ok(()),
        }
    }

    fn schedule(&self, start_ns: i64) -> Schedule {
        Schedule {
            steps: vec![Span {
                clients: self.sessions,
                pools: Arc::new([self.sessions]),
                rate: self.speed.and(self.rate),
                measured: true,
                start_ns,
                end_ns: i64::MAX,
            }],
            slices: Arc::default(),
            interval_ns: ((self.interval_s * 1e9) as i64).max(1),
        }
    }
}

type Ended = Result<(Report, Counts), String>;

/// The handle of one replay, from its settings to its result.
pub struct Replay {
    settings: Arc<Settings>,
    connector: Arc<Connector>,
    shared: Arc<Shared>,
    running: Arc<Running>,
    /// `None` once the trace has ended.
    sender: Mutex<Option<SyncSender<Arc<Chunk>>>>,
    state: Mutex<State>,
}

enum State {
    New(Receiver<Arc<Chunk>>),
    Started(Schedule, JoinHandle<Ended>),
    Ended(Arc<Outcome>, Arc<Figures>),
    Failed(String),
}

impl Replay {
    pub fn new(json: &str) -> Result<Replay, EngineError> {
        let settings: Settings = serde_json::from_str(json)?;
        settings.check()?;
        let (sender, receiver) = sync_channel(AHEAD);
        Ok(Replay {
            connector: Arc::new(Connector::new(settings.connection.clone())),
            settings: Arc::new(settings),
            shared: Shared::new(1),
            running: Arc::default(),
            sender: Mutex::new(Some(sender)),
            state: Mutex::new(State::New(receiver)),
        })
    }

    /// Opens and closes one session: a server that cannot be reached is refused before the load.
    pub fn connect(&self) -> Result<(), EngineError> {
        descriptors::make_room(self.settings.sessions)?;
        self.connector.open(&self.settings.application_name)?;
        Ok(())
    }

    /// Takes the next rows of the trace; waits while there are enough ahead. False if the replay
    /// has ended and takes no more.
    pub fn feed(&self, columns: Columns) -> Result<bool, EngineError> {
        let chunk = Arc::new(Chunk::new(columns)?);
        let sender = lock(&self.sender).clone();
        Ok(sender.is_some_and(|sender| sender.send(chunk).is_ok()))
    }

    /// The trace has no more rows.
    pub fn end_of_trace(&self) {
        *lock(&self.sender) = None;
    }

    /// Begins the replay and returns: at a time of the module's axis, or as soon as possible.
    pub fn start(&self, at_ns: Option<i64>) -> Result<(), EngineError> {
        let mut state = lock(&self.state);
        let old = std::mem::replace(&mut *state, State::Failed("it has ended".to_owned()));
        let State::New(chunks) = old else {
            *state = old;
            return Err(EngineError::Misuse("the replay has been started already"));
        };
        let soonest_ns = clock::now_ns() + LEAD_NS;
        let start_ns = at_ns.map_or(soonest_ns, |at_ns| at_ns.max(soonest_ns));
        let schedule = self.settings.schedule(start_ns);
        let (settings, connector) = (Arc::clone(&self.settings), Arc::clone(&self.connector));
        let (shared, of_worker) = (Arc::clone(&self.shared), schedule.clone());
        let present = RunningGuard::new(&self.running);
        let spawned = thread::Builder::new()
            .name("pgassay-replay".to_owned())
            .spawn(move || {
                let _present = present;
                let run = || run(&settings, &connector, chunks, shared, of_worker);
                catch_unwind(AssertUnwindSafe(run))
                    .unwrap_or_else(|panic| Err(format!("it panicked: {}", panic_text(&*panic))))
            });
        match spawned {
            Ok(handle) => *state = State::Started(schedule, handle),
            Err(error) => {
                return Err(EngineError::Worker(format!(
                    "cannot start a thread: {error}"
                )));
            }
        }
        Ok(())
    }

    #[must_use]
    pub fn started_ns(&self) -> Option<i64> {
        match &*lock(&self.state) {
            State::Started(schedule, _) => Some(schedule.start_ns()),
            State::Ended(outcome, _) => Some(outcome.schedule.start_ns()),
            State::New(_) | State::Failed(_) => None,
        }
    }

    /// Asks for an early end; one that was not started takes no more rows.
    pub fn stop(&self) {
        self.shared.limit(clock::now_ns());
        let mut state = lock(&self.state);
        if matches!(*state, State::New(_)) {
            *state = State::Failed("it was stopped".to_owned());
        }
    }

    /// Waits for the end, at most for `timeout`; true when the replay has ended.
    #[must_use]
    pub fn wait(&self, timeout: Duration) -> bool {
        self.running.wait_for_none(timeout)
    }

    #[must_use]
    pub fn progress(&self) -> Progress {
        let state = lock(&self.state);
        let schedule = match &*state {
            State::Started(schedule, _) => Some(schedule),
            State::Ended(outcome, _) => Some(&outcome.schedule),
            State::New(_) | State::Failed(_) => None,
        };
        Progress::of(&self.shared, schedule)
    }

    /// The outcome and the counts of a replay, once it has ended.
    pub fn outcome(&self) -> Result<(Arc<Outcome>, Arc<Figures>), EngineError> {
        let mut state = lock(&self.state);
        if let State::Started(..) = *state {
            if !self.running.wait_for_none(Duration::ZERO) {
                return Err(EngineError::Misuse(
                    "the replay has not ended; wait() for it",
                ));
            }
            let started = std::mem::replace(&mut *state, State::Failed("it has ended".to_owned()));
            if let State::Started(schedule, handle) = started {
                let ended = handle
                    .join()
                    .unwrap_or_else(|panic| Err(format!("it panicked: {}", panic_text(&*panic))));
                *state = match ended {
                    Ok((report, counts)) => self.ended(&schedule, report, counts),
                    Err(problem) => State::Failed(problem),
                };
            }
        }
        match &*state {
            State::Ended(outcome, figures) => Ok((Arc::clone(outcome), Arc::clone(figures))),
            State::Failed(problem) => Err(EngineError::Worker(problem.clone())),
            _ => Err(EngineError::Misuse("the replay has not been started")),
        }
    }

    fn ended(&self, schedule: &Schedule, report: Report, counts: Counts) -> State {
        let times = LoadTimes {
            limit_ns: self.shared.limit_ns(),
            connect_ns: 0,
        };
        let share = ShareReport::new(schedule, None, times, vec![report]);
        let end_ns = share
            .end_ns
            .map_or(i64::MAX, |end_ns| schedule.start_ns() + end_ns);
        let outcome = Outcome {
            schedule: schedule.ended_at(end_ns),
            report: share,
            generators: Vec::new(),
            scenarios: vec![ScenarioOutcome {
                name: NAME.to_owned(),
                weight: 1.0,
            }],
            commands: Vec::new(),
            variants: Vec::new(),
        };
        let figures = counts.into_figures(self.settings.speed.is_some());
        State::Ended(Arc::new(outcome), Arc::new(figures))
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    // The state is consistent wherever a panic may occur.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(
    settings: &Settings,
    connector: &Arc<Connector>,
    chunks: Receiver<Arc<Chunk>>,
    shared: Arc<Shared>,
    schedule: Schedule,
) -> Ended {
    // Timers fire within their resolution instead of the default slack of 50 µs. If the system
    // refuses, they are a little later.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1000));
    let start_ns = schedule.start_ns();
    let scope = Scope {
        scenarios: 1,
        ..Scope::default()
    };
    let no_histogram = |error| format!("no histogram: {error}");
    let context = Context {
        recorder: Recorder::new(schedule, scope, shared, 0).map_err(no_histogram)?,
        counts: Counts::new(settings.statements).map_err(no_histogram)?,
        queued: 0,
        is_paced: settings.speed.is_some(),
        buffer: BytesMut::new(),
    };
    let (of_opener, name) = (Arc::clone(connector), settings.application_name.clone());
    let open: Open<()> = Arc::new(move |()| {
        let session = of_opener.open(&name)?;
        let (key, backend_pid) = (session.cancel_key(), session.backend_pid());
        Ok(Opened {
            stream: session.into_stream(),
            key,
            backend_pid,
            prepared: Vec::new(),
        })
    });
    let poll = BusyPoll::new(Duration::from_micros(settings.busy_poll_us.into()));
    let ran = Epoll::new(poll)
        .and_then(|network| {
            Worker::new(
                settings, connector, &open, chunks, network, context, start_ns,
            )
        })
        .and_then(Worker::run);
    ran.map_err(|error| error.to_string())
}
