//! The sampler's interface for its owner.
//!
//! Enters: a [`Configuration`] and perhaps a load's board. Leaves: samples on request, from up
//! to three threads. Never: blocks its owner while a server is slow, except in `stop`.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use pgassay_session::board::Board;

use crate::configuration::{Configuration, HostFiles};
use crate::cost::Cost;
use crate::samples::columns::{Values, Waits};
use crate::server::link::Link;
use crate::server::{counters, waits};
use crate::shared::Shared;
use crate::{SamplerError, host};

/// Reads one server, and this host if asked, until it is stopped or dropped.
#[derive(Debug)]
pub struct Sampler {
    configuration: Configuration,
    shared: Arc<Shared>,
    /// `None` until sampling starts.
    threads: Mutex<Option<Vec<JoinHandle<()>>>>,
}

impl Sampler {
    /// With a board, backends of that load are tagged with the scenario they run.
    #[must_use]
    pub fn new(configuration: Configuration, board: Option<Arc<Board>>) -> Sampler {
        Sampler {
            shared: Shared::new(board, configuration.busy_share),
            configuration,
            threads: Mutex::new(None),
        }
    }

    /// Opens the connections and begins. After a failure it may be called again.
    pub fn start(&self) -> Result<(), SamplerError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.is_some() {
            return Err(SamplerError::AlreadyStarted);
        }
        let link = Link::new(
            self.configuration.connection.clone(),
            self.configuration.application_name.clone(),
        );
        // All connections first, so that a failure leaves no thread behind.
        let waits = match &self.configuration.waits {
            Some(query) => Some((query.clone(), link.open()?)),
            None => None,
        };
        let counters = match self.configuration.counters.as_slice() {
            [] => None,
            queries => Some((queries.to_vec(), link.open()?)),
        };

        // Each thread is stored as it starts, so that a stop ends it even if a later one fails.
        let threads = threads.insert(Vec::new());
        if let Some((query, client)) = waits {
            let (shared, link) = (Arc::clone(&self.shared), link.clone());
            threads.push(spawn("pgassay-waits", move || {
                waits::run(link, client, &query, &shared);
            })?);
        }
        if let Some((queries, client)) = counters {
            let (shared, link) = (Arc::clone(&self.shared), link.clone());
            threads.push(spawn("pgassay-counts", move || {
                counters::run(link, client, &queries, &shared);
            })?);
        }
        if let Some(files) = self.configuration.host.clone() {
            let shared = Arc::clone(&self.shared);
            threads.push(spawn("pgassay-host", move || {
                host::thread::run(&link, files, &shared);
            })?);
        }
        Ok(())
    }

    /// Replaces the host's files from the next reading on, as after a restart of the server.
    ///
    /// The sums of the server's processes continue.
    pub fn read_host(&self, files: HostFiles) -> Result<(), SamplerError> {
        if self.configuration.host.is_none() {
            return Err(SamplerError::NoHost);
        }
        self.shared.read_files(files);
        Ok(())
    }

    /// Ends sampling and closes the connections; samples not yet taken stay. Safe to call twice.
    ///
    /// Waits for a running query, at most some seconds.
    pub fn stop(&self) {
        self.shared.stop.ask();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        // The empty list that stays prevents another start.
        for thread in threads.get_or_insert_default().drain(..) {
            if thread.join().is_err() {
                self.shared.warnings.add("thread", || {
                    "a sampler thread died; samples are missing (please report this)".to_owned()
                });
            }
        }
    }

    /// The rows read since the last call.
    #[must_use]
    pub fn take_waits(&self) -> Waits {
        self.shared.waits().take()
    }

    /// The values read since the last call.
    #[must_use]
    pub fn take_counters(&self) -> Values {
        self.shared.counters().take()
    }

    /// The host's values read since the last call.
    #[must_use]
    pub fn take_host(&self) -> Values {
        self.shared.host().take()
    }

    /// The latest readings as JSON, without taking any row: see `_core.pyi`.
    #[must_use]
    pub fn current(&self, sources: &[String]) -> String {
        self.shared.recent.to_json(sources)
    }

    /// Failures to read so far, one line each, each cause once.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.shared.warnings.texts()
    }

    /// The cost of sampling so far.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.shared.costs.read()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, SamplerError> {
    Ok(Builder::new().name(name.to_owned()).spawn(body)?)
}
