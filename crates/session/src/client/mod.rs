//! Blocking queries on one session.
//!
//! Enters: a [`Session`] and SQL without parameters. Leaves: rows in binary form, handed over one
//! by one. Never: keeps a result set, retries, or reconnects; after a
//! [fatal](SessionError::is_fatal) error the client cannot be used again.

mod row;

use std::io;
use std::ops::Range;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{Message, RowDescriptionBody};
use postgres_protocol::message::frontend;

pub use crate::client::row::Row;
use crate::connection::wire::Wire;
use crate::deadline::is_timeout;
use crate::{ServerError, Session, SessionError};

/// A session that runs one query at a time.
pub struct Client {
    wire: Wire,
    place: String,
    backend_pid: i32,
    prepared: u32,
    request: BytesMut,
    ranges: Vec<Option<Range<usize>>>,
}

/// A prepared query; only the client that prepared it can run it.
#[derive(Debug)]
pub struct Statement {
    pub columns: Vec<Column>,
    request: Bytes,
}

/// A column of a prepared query's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub type_oid: u32,
}

impl Client {
    #[must_use]
    pub fn new(session: Session) -> Client {
        let (wire, place, backend_pid) = session.into_parts();
        Client {
            wire,
            place,
            backend_pid,
            prepared: 0,
            request: BytesMut::new(),
            ranges: Vec::new(),
        }
    }

    /// The process id of the backend.
    #[must_use]
    pub fn backend_pid(&self) -> i32 {
        self.backend_pid
    }

    /// How long an answer may take before its query fails; `None` (at first) for ever.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) -> Result<(), SessionError> {
        self.wire
            .set_patience(timeout)
            .map_err(|error| self.broken(&error))
    }

    /// Runs one or more statements and ignores their rows.
    pub fn execute(&mut self, sql: &str) -> Result<(), SessionError> {
        self.request.clear();
        frontend::query(sql, &mut self.request).map_err(|error| self.broken(&error))?;
        self.exchange(|_, _| Ok(()))
    }

    /// Prepares a query that has no parameters.
    pub fn prepare(&mut self, sql: &str) -> Result<Statement, SessionError> {
        let name = format!("s{}", self.prepared);
        self.prepared += 1;
        let mut execution = BytesMut::new();
        self.request.clear();
        frontend::parse(&name, sql, [], &mut self.request)
            .and_then(|()| frontend::describe(b'S', &name, &mut self.request))
            .and_then(|()| encode_execution(&name, &mut execution))
            .map_err(|error| self.broken(&error))?;
        frontend::sync(&mut self.request);

        let mut columns = Vec::new();
        self.exchange(|message, _| {
            if let Message::RowDescription(body) = message {
                columns = describe(&body)?;
            }
            Ok(())
        })?;
        Ok(Statement {
            columns,
            request: execution.freeze(),
        })
    }

    /// Runs a prepared query and hands over each row as it arrives.
    pub fn query<F>(&mut self, statement: &Statement, mut on_row: F) -> Result<(), SessionError>
    where
        F: FnMut(Row<'_>),
    {
        self.request.clear();
        self.request.extend_from_slice(&statement.request);
        let columns = statement.columns.len();
        self.exchange(|message, ranges| {
            if let Message::DataRow(body) = message {
                on_row(Row::parse(&body, columns, ranges)?);
            }
            Ok(())
        })
    }

    /// Sends Terminate, so that the server does not log a lost connection.
    pub fn close(mut self) {
        self.request.clear();
        frontend::terminate(&mut self.request);
        // The session ends either way, so a failure to send is ignored.
        let _ = self.wire.send(&self.request);
    }

    /// Sends the request and reads its answer to the end, also after an error.
    fn exchange<F>(&mut self, mut on_message: F) -> Result<(), SessionError>
    where
        F: FnMut(Message, &mut Vec<Option<Range<usize>>>) -> io::Result<()>,
    {
        if let Err(error) = self.wire.send(&self.request) {
            return Err(self
                .pending_refusal()
                .unwrap_or_else(|| self.broken(&error)));
        }
        let (mut refusal, mut is_answered) = (None, false);
        loop {
            match self.wire.receive() {
                Ok(Message::ReadyForQuery(_)) => match refusal {
                    Some(error) => return Err(error),
                    None if is_answered => return Ok(()),
                    // It would answer the next request, and each answer the one after its own.
                    None => return Err(self.protocol("it is ready without having answered")),
                },
                Ok(Message::ErrorResponse(body)) => {
                    let error = SessionError::Query {
                        place: self.place.clone(),
                        error: Box::new(ServerError::parse(&body)),
                    };
                    // No ReadyForQuery follows when the server ends the session.
                    if error.is_fatal() {
                        return Err(error);
                    }
                    refusal = Some(error);
                }
                Ok(Message::CopyInResponse(_) | Message::CopyOutResponse(_)) => {
                    return Err(self.protocol("COPY, which this client does not support"));
                }
                Ok(message) => {
                    is_answered |= matches!(
                        message,
                        Message::CommandComplete(_)
                            | Message::EmptyQueryResponse
                            | Message::ParseComplete
                    );
                    on_message(message, &mut self.ranges)
                        .map_err(|error| self.protocol(&error.to_string()))?;
                }
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    /// The error that the server sent before it closed the connection, if there is one to read.
    fn pending_refusal(&mut self) -> Option<SessionError> {
        loop {
            match self.wire.receive().ok()? {
                Message::ErrorResponse(body) => {
                    return Some(SessionError::Query {
                        place: self.place.clone(),
                        error: Box::new(ServerError::parse(&body)),
                    });
                }
                Message::NoticeResponse(_) | Message::ParameterStatus(_) => {}
                _ => return None,
            }
        }
    }

    fn protocol(&self, problem: &str) -> SessionError {
        SessionError::Protocol {
            place: self.place.clone(),
            problem: problem.to_owned(),
        }
    }

    fn broken(&self, error: &io::Error) -> SessionError {
        let place = self.place.clone();
        match error.kind() {
            _ if is_timeout(error) => SessionError::QueryTimedOut { place },
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                self.protocol(&error.to_string())
            }
            io::ErrorKind::UnexpectedEof => SessionError::Lost {
                place,
                problem: "the server closed it".to_owned(),
            },
            _ => SessionError::Lost {
                place,
                problem: error.to_string(),
            },
        }
    }
}

/// Bind, Execute and Sync for a statement without parameters, all results binary.
fn encode_execution(name: &str, request: &mut BytesMut) -> io::Result<()> {
    let no_parameters: [(); 0] = [];
    frontend::bind(
        "",
        name,
        [],
        no_parameters,
        |(), _| Ok(IsNull::Yes),
        [1],
        request,
    )
    .map_err(|error| match error {
        frontend::BindError::Conversion(error) => io::Error::other(error),
        frontend::BindError::Serialization(error) => error,
    })?;
    frontend::execute("", 0, request)?;
    frontend::sync(request);
    Ok(())
}

fn describe(body: &RowDescriptionBody) -> io::Result<Vec<Column>> {
    body.fields()
        .map(|field| {
            Ok(Column {
                name: field.name().to_owned(),
                type_oid: field.type_oid(),
            })
        })
        .collect()
}
