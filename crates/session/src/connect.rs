//! Opens a session on a stream.
//!
//! Enters: a connected stream and an [`Endpoint`]. Leaves: an authenticated, idle [`Session`].
//! Never: waits longer than the endpoint's connect timeout.

use std::collections::HashMap;
use std::io;

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use crate::authenticate::authenticate;
use crate::cancel::CancelKey;
use crate::connector::{Connector, Failure};
use crate::tls::tls_server_end_point;
use crate::wire::Wire;
use crate::{Endpoint, ServerError, SessionError, Stream};

/// An open session on which nothing is under way.
pub struct Session {
    wire: Wire,
    place: String,
    key: CancelKey,
    parameters: HashMap<String, String>,
}

impl Session {
    /// Connects and authenticates, blocking; for many sessions use a [`Connector`].
    pub fn open(endpoint: &Endpoint, application_name: &str) -> Result<Session, SessionError> {
        Connector::new(endpoint.clone()).open(application_name)
    }

    /// The process id of the backend, as `pg_stat_activity` shows it.
    #[must_use]
    pub fn backend_pid(&self) -> i32 {
        self.key.backend_pid
    }

    /// What a request to cancel this session's statement must name.
    #[must_use]
    pub fn cancel_key(&self) -> CancelKey {
        self.key
    }

    /// What the server reported of a setting when the session began, such as `server_version`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// The bare stream, blocking. What the server may have sent unasked is still in it.
    #[must_use]
    pub fn into_stream(self) -> Stream {
        self.wire.stream
    }

    pub(crate) fn into_parts(self) -> (Wire, String, i32) {
        (self.wire, self.place, self.key.backend_pid)
    }
}

/// A session on its way: errors are worded for somebody who tries to connect.
pub(crate) struct Opening<'a> {
    wire: &'a mut Wire,
    endpoint: &'a Endpoint,
}

impl Opening<'_> {
    pub(crate) fn run(
        mut wire: Wire,
        endpoint: &Endpoint,
        application_name: &str,
    ) -> Result<Session, Failure> {
        let mut opening = Opening {
            wire: &mut wire,
            endpoint,
        };
        opening.start_up(application_name)?;
        authenticate(&mut opening, endpoint).map_err(|error| Failure {
            // The server's own refusal may be of the way, not of the user.
            is_worth_another: matches!(error, SessionError::Refused { .. }),
            error,
        })?;
        let (key, parameters) = opening.await_ready()?;
        wire.stream
            .set_timeout(None)
            .map_err(|error| SessionError::Lost {
                place: endpoint.to_string(),
                problem: error.to_string(),
            })?;
        Ok(Session {
            wire: Wire::new(wire.stream, None),
            place: endpoint.to_string(),
            key,
            parameters,
        })
    }

    /// The hash of the server's certificate, for channel binding; None without TLS.
    pub(crate) fn end_point(&self) -> Option<Result<Vec<u8>, String>> {
        let Stream::Tls(stream) = &self.wire.stream else {
            return None;
        };
        Some(match stream.server_certificate() {
            Some(certificate) => tls_server_end_point(certificate),
            None => Err("it has shown no certificate".to_owned()),
        })
    }

    fn start_up(&mut self, application_name: &str) -> Result<(), SessionError> {
        let mut parameters = vec![
            ("user", self.endpoint.user.as_str()),
            ("database", self.endpoint.dbname.as_str()),
            ("application_name", application_name),
            ("client_encoding", "UTF8"),
        ];
        if !self.endpoint.options.is_empty() {
            parameters.push(("options", self.endpoint.options.as_str()));
        }
        let mut request = BytesMut::new();
        frontend::startup_message(parameters, &mut request)
            .map_err(|error| self.invalid(&error.to_string()))?;
        self.send(&request)
    }

    /// Reads what follows AuthenticationOk, up to the point where nothing is left to read.
    fn await_ready(&mut self) -> Result<(CancelKey, HashMap<String, String>), SessionError> {
        let mut key = CancelKey::default();
        let mut parameters = HashMap::new();
        let mut ready = false;
        // Something unasked may follow ReadyForQuery in the same packet.
        while !ready || self.wire.has_unread() {
            match self.receive()? {
                Message::BackendKeyData(body) => {
                    key = CancelKey::new(body.process_id(), body.secret_key());
                }
                Message::ParameterStatus(body) => {
                    if let (Ok(name), Ok(value)) = (body.name(), body.value()) {
                        parameters.insert(name.to_owned(), value.to_owned());
                    }
                }
                Message::ReadyForQuery(_) => ready = true,
                _ => return Err(self.protocol("a message out of place after authentication")),
            }
        }
        Ok((key, parameters))
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        self.wire.send(bytes).map_err(|error| self.broken(&error))
    }

    /// The next message that is not a notice; an ErrorResponse is the session's refusal.
    pub(crate) fn receive(&mut self) -> Result<Message, SessionError> {
        loop {
            match self.wire.receive() {
                Ok(Message::ErrorResponse(body)) => {
                    return Err(SessionError::Refused {
                        place: self.endpoint.to_string(),
                        error: Box::new(ServerError::parse(&body)),
                    });
                }
                Ok(Message::NoticeResponse(_)) => {}
                Ok(message) => return Ok(message),
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    pub(crate) fn protocol(&self, problem: &str) -> SessionError {
        SessionError::Protocol {
            place: self.endpoint.to_string(),
            problem: problem.to_owned(),
        }
    }

    pub(crate) fn invalid(&self, problem: &str) -> SessionError {
        SessionError::Endpoint {
            place: self.endpoint.to_string(),
            problem: problem.to_owned(),
        }
    }

    fn broken(&self, error: &io::Error) -> SessionError {
        SessionError::while_opening(self.endpoint, error)
    }
}
