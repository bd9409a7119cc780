//! Files of the server's machine, read by the server itself.
//!
//! Enters: a query that returns path and text of each file. Leaves: its rows as texts. Never: asks
//! again what the server refuses.

use pgassay_session::client::{Client, Statement};
use pgassay_session::{SessionError, clock};

use crate::feed::{Feed, Sink};
use crate::link::Link;
use crate::shared::Shared;

pub(crate) struct Sql<'a> {
    link: Link,
    query: &'a str,
    open: Option<(Client, Statement)>,
}

impl Sql<'_> {
    pub(crate) fn new(link: Link, query: &str) -> Sql<'_> {
        Sql {
            link,
            query,
            open: None,
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
                files.push((path.to_owned(), text.to_owned()));
            }
        })?;
        // It looked at some moment between question and answer.
        let time_ns = asked_ns + (clock::now_ns() - asked_ns) / 2;
        for (path, text) in &files {
            sink(path, text, time_ns);
        }
        Ok(())
    }
}

impl Feed for Sql<'_> {
    fn read(&mut self, _: &[i32], shared: &Shared, sink: Sink<'_>) -> bool {
        let Err(error) = self.ask(sink) else {
            return true;
        };
        shared.warnings.add("host over sql", || {
            format!("the host's counters could not be read over the connection: {error}")
        });
        let lost = error.is_fatal();
        if lost {
            self.open = None;
        }
        // What is not allowed stays so; a process that ended while it was read does not matter.
        lost || error
            .sqlstate()
            .is_none_or(|state| !state.starts_with("42"))
    }
}

impl Drop for Sql<'_> {
    fn drop(&mut self) {
        if let Some((client, _)) = self.open.take() {
            client.close();
        }
    }
}
