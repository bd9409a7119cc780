//! Entries become the statements of sessions.
//!
//! Enters: entries. Leaves: each statement with its times and values, to transactions or to a trace.
//! Never: counts a statement twice: of the extended protocol's lines an execution counts, and the
//! time of its parse and bind is its own.

use std::collections::HashMap;

use crate::call::{Call, Protocol, Values};
use crate::counts::{Counts, OfDatabase};
use crate::entry::{Entry, Severity};
use crate::lexer::{Scanned, scan};
use crate::message::{Said, Step, said};
use crate::reader::Configuration;
use crate::scenarios::Scenarios;
use crate::templates::Templates;
use crate::trace::{Names, Trace, Whose};
use crate::transactions::{Gathering, Open};

/// Parse and bind before an execution.
#[derive(Debug, Default)]
struct Prelude {
    start_us: Option<i64>,
    duration_us: i64,
    detail: Vec<u8>,
}

struct Session {
    id: Box<[u8]>,
    number: i64,
    whose: Whose,
    database: usize,
    first_us: i64,
    last_us: i64,
    /// When its latest statement of a trace began.
    started_us: i64,
    prelude: Prelude,
    /// A statement that was logged as it began.
    pending: Option<Call>,
    open: Open,
}

pub(crate) struct Sessions {
    asked: Configuration,
    /// Process → its place in `present`.
    places: HashMap<Box<[u8]>, usize>,
    present: Vec<Option<Session>>,
    pub(crate) counts: Counts,
    /// By the number of their name in `databases`.
    pub(crate) of_databases: Vec<OfDatabase>,
    pub(crate) templates: Templates,
    pub(crate) scenarios: Scenarios,
    pub(crate) trace: Trace,
    pub(crate) names: Names,
    pub(crate) databases: Names,
    scanned: Scanned,
}

impl Sessions {
    pub(crate) fn new(asked: Configuration) -> Self {
        Self {
            scenarios: Scenarios::new(asked.most_rows, asked.seed),
            asked,
            places: HashMap::new(),
            present: Vec::new(),
            counts: Counts {
                whole_seconds: true,
                ..Counts::default()
            },
            of_databases: Vec::new(),
            templates: Templates::default(),
            trace: Trace::default(),
            names: Names::default(),
            databases: Names::default(),
            scanned: Scanned::default(),
        }
    }

    pub(crate) fn take(&mut self, entry: &Entry<'_>) {
        if !self.is_asked_for(entry) {
            return;
        }
        let said = said(entry);
        if said == Said::Nothing {
            return;
        }
        self.counts.entry(entry.time_us);
        let place = self.place(&entry.process);
        let mut session = match self.present[place].take() {
            Some(session) if *session.id == *entry.session => session,
            old => {
                if let Some(old) = old {
                    self.end(old);
                }
                if said == Said::Disconnected {
                    return;
                }
                self.begin(entry, began_us(entry, &said))
            }
        };
        if self.asked.trace {
            session.whose.application = self.names.number(&entry.application);
        }
        session.last_us = session.last_us.max(entry.time_us);
        match said {
            Said::Statement {
                step,
                name,
                text,
                duration_us,
            } => self.statement(&mut session, entry, step, name, text, duration_us),
            Said::Duration(duration_us) => match session.pending.take() {
                Some(mut call) => {
                    call.duration_us = Some(call.duration_us.unwrap_or(0) + duration_us);
                    call.end_us = entry.time_us;
                    self.complete(&mut session, call);
                }
                None => session.prelude.add(entry.time_us, duration_us),
            },
            Said::Failed => self.failed(&mut session, entry),
            Said::Disconnected | Said::Nothing => {}
        }
        let ended = said == Said::Disconnected || entry.severity == Severity::Fatal;
        if ended {
            self.end(session);
        } else {
            self.present[place] = Some(session);
        }
    }

    fn is_asked_for(&self, entry: &Entry<'_>) -> bool {
        let is = |asked: &Option<String>, found: &[u8]| {
            asked.as_ref().is_none_or(|asked| asked.as_bytes() == found)
        };
        let passed_over = |start: &String| entry.application.starts_with(start.as_bytes());
        is(&self.asked.database, &entry.database)
            && is(&self.asked.user, &entry.user)
            && is(&self.asked.application, &entry.application)
            && !self.asked.without_applications.iter().any(passed_over)
    }

    fn place(&mut self, process: &[u8]) -> usize {
        if let Some(place) = self.places.get(process) {
            return *place;
        }
        self.present.push(None);
        self.places.insert(process.into(), self.present.len() - 1);
        self.present.len() - 1
    }

    fn begin(&mut self, entry: &Entry<'_>, first_us: i64) -> Session {
        let number = i64::try_from(self.counts.sessions).unwrap_or(i64::MAX);
        self.counts.sessions += 1;
        let whose = Whose {
            database: self.names.number(&entry.database),
            user: self.names.number(&entry.user),
            application: self.names.number(&entry.application),
        };
        if self.asked.trace {
            self.trace.connect(number, first_us, whose);
        }
        // With too many names the rest are counted with the first.
        let database = usize::try_from(self.databases.number(&entry.database)).unwrap_or(0);
        if self.of_databases.len() <= database {
            self.of_databases.push(OfDatabase::default());
        }
        Session {
            id: entry.session.as_ref().into(),
            number,
            whose,
            database,
            first_us,
            last_us: entry.time_us,
            started_us: first_us,
            prelude: Prelude::default(),
            pending: None,
            open: Open::default(),
        }
    }

    fn end(&mut self, mut session: Session) {
        if let Some(call) = session.pending.take() {
            self.complete(&mut session, call);
        }
        self.of_databases[session.database].session(session.first_us, session.last_us);
        if self.asked.trace {
            self.trace
                .disconnect(session.number, session.last_us, session.whose);
        } else {
            let mut open = std::mem::take(&mut session.open);
            open.break_off(&mut self.gathering(session.database));
        }
    }

    pub(crate) fn finish(&mut self) {
        let mut left: Vec<Session> = self.present.drain(..).flatten().collect();
        self.places.clear();
        left.sort_by_key(|session| session.number);
        for session in left {
            self.end(session);
        }
    }

    fn gathering(&mut self, database: usize) -> Gathering<'_> {
        Gathering {
            scenarios: &mut self.scenarios,
            templates: &mut self.templates,
            counts: &mut self.of_databases[database],
            database,
        }
    }

    fn statement(
        &mut self,
        session: &mut Session,
        entry: &Entry<'_>,
        step: Step,
        name: &[u8],
        text: &[u8],
        duration_us: Option<i64>,
    ) {
        if let Some(before) = session.pending.take() {
            self.complete(session, before);
        }
        let spent = duration_us.unwrap_or(0);
        if matches!(step, Step::Parse | Step::Bind) {
            session.prelude.add(entry.time_us, spent);
            if !entry.detail.is_empty() {
                session.prelude.detail = entry.detail.to_vec();
            }
            return;
        }
        let mut call = self.call(session, entry, step, name, text);
        if let Some(duration_us) = duration_us {
            call.start_us = call.start_us.min(entry.time_us - duration_us);
            call.duration_us = Some(call.duration_us.unwrap_or(0) + duration_us);
        }
        if step == Step::Fetch {
            self.scenarios.lose("cursor", &call);
        } else if duration_us.is_some() {
            self.complete(session, call);
        } else {
            session.pending = Some(call);
        }
    }

    /// A statement at its execution; what was spent on parse and bind is counted in.
    fn call(
        &mut self,
        session: &mut Session,
        entry: &Entry<'_>,
        step: Step,
        name: &[u8],
        text: &[u8],
    ) -> Call {
        let prelude = std::mem::take(&mut session.prelude);
        let protocol = match step {
            Step::Simple => Protocol::Simple,
            _ if name.is_empty() => Protocol::Extended,
            _ => Protocol::Prepared,
        };
        let mut values = Values::default();
        if protocol != Protocol::Simple {
            // An error's own detail is another.
            values.add_logged(&entry.detail);
            if values.count == 0 {
                values.add_logged(&prelude.detail);
            }
        }
        let is_text = |text: &[u8]| std::str::from_utf8(text).is_ok();
        let mut is_utf8 = values.iter().all(|(_, text)| is_text(text));
        let mut template = None;
        if !self.asked.trace {
            scan(text, &mut self.scanned);
            template = self.templates.number(&self.scanned);
            is_utf8 &= is_text(&self.scanned.values);
            values.add_constants(&self.scanned.constants, &self.scanned.values);
        }
        self.counts.not_utf8 += u64::from(!is_utf8);
        values.cut |= !is_utf8;
        self.counts.cut += u64::from(values.cut);
        let of_prelude = prelude.start_us.filter(|_| protocol != Protocol::Simple);
        Call {
            start_us: of_prelude.unwrap_or(entry.time_us),
            end_us: entry.time_us,
            duration_us: of_prelude.map(|_| prelude.duration_us),
            template,
            protocol,
            failed: None,
            values,
            text: if self.asked.trace {
                text.to_vec()
            } else {
                Vec::new()
            },
            name: if self.asked.trace {
                name.to_vec()
            } else {
                Vec::new()
            },
        }
    }

    fn failed(&mut self, session: &mut Session, entry: &Entry<'_>) {
        let mut call = match session.pending.take() {
            Some(call) => call,
            None if entry.statement.is_empty() => return,
            None => {
                let bound = !session.prelude.detail.is_empty();
                let step = if bound || session.prelude.start_us.is_some() {
                    Step::Execute
                } else {
                    Step::Simple
                };
                self.call(session, entry, step, b"", &entry.statement)
            }
        };
        let mut code = [b' '; 5];
        if entry.sqlstate.len() == code.len() {
            code.copy_from_slice(&entry.sqlstate);
        }
        call.failed = Some(code);
        call.end_us = entry.time_us;
        let duration_us = (call.end_us - call.start_us).max(0);
        call.duration_us = Some(duration_us);
        self.counts.failed += 1;
        self.complete(session, call);
    }

    fn complete(&mut self, session: &mut Session, mut call: Call) {
        self.counts.call(&call);
        self.of_databases[session.database].call(&call, session.whose.user);
        if self.asked.trace {
            // Times have milliseconds: within a session a start is never before the one before.
            call.start_us = call.start_us.max(session.started_us);
            session.started_us = call.start_us;
            self.trace
                .call(session.number, &call, session.whose, &mut self.names);
            return;
        }
        let mut open = std::mem::take(&mut session.open);
        open.take(call, &mut self.gathering(session.database));
        session.open = open;
    }
}

/// When the statement or session of an entry began, in microseconds.
fn began_us(entry: &Entry<'_>, said: &Said<'_>) -> i64 {
    let spent_us = match said {
        Said::Statement { duration_us, .. } => duration_us.unwrap_or(0),
        Said::Duration(duration_us) => *duration_us,
        Said::Failed | Said::Disconnected | Said::Nothing => 0,
    };
    entry.time_us - spent_us
}

impl Prelude {
    fn add(&mut self, time_us: i64, duration_us: i64) {
        let start_us = time_us - duration_us;
        self.start_us = Some(self.start_us.map_or(start_us, |start| start.min(start_us)));
        self.duration_us += duration_us;
    }
}
