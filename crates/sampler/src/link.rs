//! A connection that outlives the server's restarts.
//!
//! Enters: an endpoint. Leaves: a client set up for harmless reading, and a new one whenever
//! the old is lost. Never: gives up before it is told to stop.

use std::time::Duration;

use pgassay_session::client::Client;
use pgassay_session::{Endpoint, Session, SessionError};

use crate::shared::Shared;

/// A sampler must never be what the server waits for, nor change anything.
const SETTINGS: &str = "SET statement_timeout = '5s'; SET lock_timeout = '1s'; \
                        SET default_transaction_read_only = on";

/// Longer than `statement_timeout`, so that the server's own word comes first.
const READ_TIMEOUT: Duration = Duration::from_secs(6);
const RETRY_AFTER: Duration = Duration::from_millis(500);
/// Bounds how long a stop may have to wait for a server that does not answer.
const RECONNECT_TIMEOUT_S: f64 = 2.0;

#[derive(Debug, Clone)]
pub(crate) struct Link {
    endpoint: Endpoint,
    application_name: String,
}

impl Link {
    pub(crate) fn new(endpoint: Endpoint, application_name: String) -> Link {
        Link {
            endpoint,
            application_name,
        }
    }

    pub(crate) fn open(&self) -> Result<Client, SessionError> {
        open(&self.endpoint, &self.application_name)
    }

    /// Keeps `serve` supplied with a client until it ends well or sampling stops.
    pub(crate) fn keep_serving<F>(self, first: Client, shared: &Shared, mut serve: F)
    where
        F: FnMut(&mut Client) -> Result<(), SessionError>,
    {
        let mut client = first;
        while let Err(error) = serve(&mut client) {
            shared.warnings.add("connection", || {
                format!("{error}; samples are missing until the server is back")
            });
            match self.reopen(shared) {
                Some(again) => client = again,
                None => return,
            }
        }
        client.close();
    }

    fn reopen(&self, shared: &Shared) -> Option<Client> {
        let endpoint = Endpoint {
            connect_timeout_s: self.endpoint.connect_timeout_s.min(RECONNECT_TIMEOUT_S),
            ..self.endpoint.clone()
        };
        while !shared.stop.wait_for(RETRY_AFTER) {
            if let Ok(client) = open(&endpoint, &self.application_name) {
                return Some(client);
            }
        }
        None
    }
}

fn open(endpoint: &Endpoint, application_name: &str) -> Result<Client, SessionError> {
    let mut client = Client::new(Session::open(endpoint, application_name)?);
    client.set_read_timeout(Some(READ_TIMEOUT))?;
    client.execute(SETTINGS)?;
    Ok(client)
}

/// Whether a query that failed this way may succeed at its next turn.
///
/// Classes: 40 transaction rollback, 53 insufficient resources, 55 object not in the right
/// state, 57 operator intervention (a statement timeout among them). A server under stress
/// answers with these, and its samples are the ones that matter most.
pub(crate) fn may_pass(error: &SessionError) -> bool {
    error
        .sqlstate()
        .and_then(|sqlstate| sqlstate.get(..2))
        .is_some_and(|class| matches!(class, "40" | "53" | "55" | "57"))
}
