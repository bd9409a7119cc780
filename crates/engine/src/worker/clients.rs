//! Opens the connections of a load, several at a time.
//!
//! Enters: the set-up of the load. Leaves: clients ready to run, each with its stream. Never: keeps
//! the sessions of a load of which one could not be opened.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pgassay_session::Stream;

use crate::client::Client;
use crate::config::Assignment;
use crate::error::EngineError;
use crate::sessions::descriptors;
use crate::sessions::open::open_session;
use crate::setup::Setup;

/// Sessions opened at the same time: a server forks for each, one after the other.
const OPENERS: usize = 16;

/// A client with its stream, or why there is none.
type OpenedClient = Result<(Client, Stream), EngineError>;

/// Opens all connections, several at a time. After failures, the one with the lowest number is
/// returned, and later connections are not tried.
pub fn open_clients(setup: &Setup) -> Result<Vec<(Client, Stream)>, EngineError> {
    let count = setup.assignments.len();
    descriptors::make_room(count)?;
    let next = AtomicUsize::new(0);
    let open_some = || {
        let mut opened = Vec::new();
        loop {
            let slot = next.fetch_add(1, Ordering::Relaxed);
            let Some(assignment) = setup.assignments.get(slot) else {
                return opened;
            };
            let one = open_client(slot, *assignment, setup);
            if one.is_err() {
                next.store(count, Ordering::Relaxed);
            }
            opened.push((slot, one));
        }
    };
    let mut opened: Vec<(usize, OpenedClient)> = thread::scope(|scope| {
        let helpers: Vec<_> = (1..OPENERS.min(count))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, open_some).ok())
            .collect();
        let mut opened = open_some();
        for opener_thread in helpers {
            match opener_thread.join() {
                Ok(more) => opened.extend(more),
                Err(panic) => resume_unwind(panic),
            }
        }
        opened
    });
    opened.sort_by_key(|(slot, _)| *slot);
    opened.into_iter().map(|(_, one)| one).collect()
}

fn open_client(slot: usize, assignment: Assignment, setup: &Setup) -> OpenedClient {
    let opened = open_session(assignment, setup)?;
    setup.board.set_backend(slot, opened.backend_pid);
    let client = Client::new(slot, assignment, setup, opened.key, opened.prepared);
    Ok((client, opened.stream))
}
