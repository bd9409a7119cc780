//! The messages between the connection and the first query: start-up, then until the server is ready.
//!
//! Enters: a connected stream and an [`Endpoint`]. Leaves: the start-up message sent; the server's
//! answers, one by one. Never: authenticates, or reads past the last message that opens the session.

use std::collections::HashMap;
use std::io;

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use crate::connection::cancel_key::CancelKey;
use crate::connection::wire::Wire;
use crate::opening::failure::opening_error;
use crate::tls::tls_server_end_point;
use crate::{Endpoint, ServerError, SessionError, Stream};

/// A session that is being opened.
pub(crate) struct Opening<'a> {
    wire: &'a mut Wire,
    endpoint: &'a Endpoint,
}

impl<'a> Opening<'a> {
    pub(crate) fn new(wire: &'a mut Wire, endpoint: &'a Endpoint) -> Opening<'a> {
        Opening { wire, endpoint }
    }

    /// The hash of the server's certificate, for channel binding; None without TLS.
    pub(crate) fn end_point(&self) -> Option<Result<Vec<u8>, String>> {
        let Stream::Tls(stream) = &self.wire.stream else {
            return None;
        };
        Some(match stream.server_certificate() {
            Some(certificate) => tls_server_end_point(certificate),
            None => Err("it sent no certificate".to_owned()),
        })
    }

    pub(crate) fn start_up(&mut self, application_name: &str) -> Result<(), SessionError> {
        let mut parameters = vec![
            ("user", self.endpoint.user.as_str()),
            ("database", self.endpoint.dbname.as_str()),
            ("application_name", application_name),
        ];
        let given = self.endpoint.parameters.iter();
        parameters.extend(given.map(|(name, value)| (name.as_str(), value.as_str())));
        if !self.endpoint.options.is_empty() {
            parameters.push(("options", self.endpoint.options.as_str()));
        }
        let mut request = BytesMut::new();
        frontend::startup_message(parameters, &mut request)
            .map_err(|error| self.invalid(&error.to_string()))?;
        self.send(&request)
    }

    /// Reads all messages from AuthenticationOk to ReadyForQuery.
    pub(crate) fn await_ready(
        &mut self,
    ) -> Result<(CancelKey, HashMap<String, String>), SessionError> {
        let mut key = CancelKey::default();
        let mut parameters = HashMap::new();
        let mut ready = false;
        // An asynchronous message may follow ReadyForQuery in the same packet.
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
                _ => return Err(self.protocol("an unexpected message after authentication")),
            }
        }
        Ok((key, parameters))
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        self.wire.send(bytes).map_err(|error| self.broken(&error))
    }

    /// The next message that is not a notice; an ErrorResponse means that the session is refused.
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
        opening_error(self.endpoint, error)
    }
}
