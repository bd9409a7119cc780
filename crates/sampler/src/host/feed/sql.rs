//! Files of the server's host, read by the server itself.
//!
//! Enters: a query that returns path and text of each file. Leaves: its rows as texts. Never:
//! repeats a query that the server refuses.

use std::time::Instant;

use pgassay_session::client::{Client, Statement};
use pgassay_session::{SessionError, clock};

use crate::host::feed::{Feed, Sink};
use crate::server::backoff::Backoff;
use crate::server::link::{Link, is_transient};
use crate::shared::Shared;

pub(crate) struct Sql<'a> {
    link: Link,
    query: &'a str,
    open: Option<(Client, Statement)>,
    backoff: Backoff,
    /// No attempt to connect before this time.
    closed_until: Option<Instant>,
}

impl Sql<'_> {
    pub(crate) fn new(link: Link, query: &str) -> Sql<'_> {
        Sql {
            link,
            query,
            open: None,
            backoff: Backoff::default(),
            closed_until: None,
        }
    }

    fn ask(&mut self, sink: Sink<'_>) -> Result<(), SessionError> {
        let (client, statement) = match &mut self.open {
            Some(open) => open,
            None => {
                let mut client = self.link.open()?;
                let statement = client.prepare(self.query)?;
                self.open.insert((client, statement))
            }
        };
        let asked_ns = clock::now_ns();
        let mut files = Vec::new();
        client.query(statement, |row| {
            if let (Some(path), Some(text)) = (row.text(0), row.text(1)) {
                files.push((path.into_owned(), text.into_owned()));
            }
        })?;
        // The server read the files between query and answer: take the middle.
        let time_ns = asked_ns + (clock::now_ns() - asked_ns) / 2;
        for (path, text) in &files {
            sink(path, text, time_ns);
        }
        Ok(())
    }
}

impl Feed for Sql<'_> {
    fn read(&mut self, _: &[i32], shared: &Shared, sink: Sink<'_>) -> bool {
        if self.open.is_none()
            && self
                .closed_until
                .is_some_and(|until| Instant::now() < until)
        {
            return true;
        }
        let Err(error) = self.ask(sink) else {
            self.backoff.succeeded();
            return true;
        };
        shared.warnings.add("host over sql", || {
            format!("the host's counters could not be read over the connection: {error}")
        });
        let lost = error.is_fatal();
        if lost {
            self.open = None;
        }
        if self.open.is_none() {
            let now = Instant::now();
            self.closed_until = Some(now + self.backoff.after(&error, now));
        }
        // A missing privilege is permanent; a process that ended while it was read is not an error.
        lost || is_transient(&error)
    }
}

impl Drop for Sql<'_> {
    fn drop(&mut self) {
        if let Some((client, _)) = self.open.take() {
            client.close();
        }
    }
}
