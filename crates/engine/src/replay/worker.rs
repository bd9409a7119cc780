//! The event loop of a replay: one thread with all sessions of a trace.
//!
//! Enters: chunks of the trace, in order of time. Leaves: a [`Report`] and the counts of a replay.
//! Never: has more sessions open than the source had at once, or more rows in memory than the
//! look-ahead window and the statements that wait for their predecessors.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use pgassay_session::{Connector, clock};

use super::Settings;
use super::chunk::Chunk;
use super::counts::Counts;
use super::session::{Context, Due, Session};
use crate::messages::{Malformed, TERMINATE};
use crate::network::{Epoll, Event, Network, Sink};
use crate::record::Report;
use crate::sessions::reopen::{Answer, Open, SessionOpener};

/// Rows that wait for their predecessors at one time; the trace is read on when there are fewer.
const WINDOW: usize = 100_000;
/// The longest wait, which bounds the delay of a request to stop,
const LONGEST_WAIT_NS: i64 = 50_000_000;
/// and while the reader of the trace has not brought the next rows yet.
const STARVED_WAIT_NS: i64 = 500_000;
/// How long statements may take that are cancelled at an early end.
const CANCEL_NS: i64 = 1_000_000_000;
/// The token of the socket that wakes the loop when a session was opened.
const WAKER: usize = 0;

pub struct Worker<'s> {
    settings: &'s Settings,
    connector: Arc<Connector>,
    network: Epoll,
    opener: SessionOpener<()>,
    chunks: Receiver<Arc<Chunk>>,
    /// The chunk under way and the next row of it.
    cursor: Option<(Arc<Chunk>, usize)>,
    is_at_end: bool,
    start_ns: i64,
    sessions: Sessions,
    context: Context,
    output: Vec<u8>,
}

/// The sessions by their tokens, which are used again.
#[derive(Default)]
struct Sessions {
    by_token: Vec<Option<Session>>,
    tokens: HashMap<i32, usize>,
    free: Vec<usize>,
    /// Those that wait until another has left, in order of time.
    waiting: VecDeque<usize>,
    /// Those that have a connection, or wait for one to be opened.
    connected: usize,
    /// Those to look at after a wait: they have left, or were lost.
    changed: Vec<usize>,
    successes: Vec<(usize, u64)>,
}

impl Sessions {
    fn get(&mut self, token: usize) -> Option<&mut Session> {
        self.by_token.get_mut(token)?.as_mut()
    }

    fn all(&self) -> impl Iterator<Item = (usize, &Session)> {
        let sessions = self.by_token.iter().enumerate();
        sessions.filter_map(|(token, session)| Some((token, session.as_ref()?)))
    }

    fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The token of a session of the trace, and whether it is new.
    fn token(&mut self, trace_session: i32) -> (usize, bool) {
        if let Some(&token) = self.tokens.get(&trace_session) {
            return (token, false);
        }
        let session = Some(Session::new(trace_session));
        let token = match self.free.pop() {
            Some(token) => token,
            None => {
                if self.by_token.is_empty() {
                    // The place of the waker.
                    self.by_token.push(None);
                }
                self.by_token.push(None);
                self.by_token.len() - 1
            }
        };
        if let Some(place) = self.by_token.get_mut(token) {
            *place = session;
        }
        self.tokens.insert(trace_session, token);
        (token, true)
    }

    fn remove(&mut self, token: usize) {
        let Some(session) = self.by_token.get_mut(token).and_then(Option::take) else {
            return;
        };
        self.tokens.remove(&session.trace_session);
        self.free.push(token);
        if session.successes > 0 {
            let number = usize::try_from(session.trace_session).unwrap_or(0);
            self.successes.push((number, session.successes));
        }
    }
}

impl<'s> Worker<'s> {
    pub fn new(
        settings: &'s Settings,
        connector: &Arc<Connector>,
        open: &Open<()>,
        chunks: Receiver<Arc<Chunk>>,
        mut network: Epoll,
        context: Context,
        start_ns: i64,
    ) -> io::Result<Worker<'s>> {
        let (opener, waker) = SessionOpener::start(open, settings.sessions)?;
        network.add(WAKER, waker)?;
        Ok(Worker {
            settings,
            connector: Arc::clone(connector),
            network,
            opener,
            chunks,
            cursor: None,
            is_at_end: false,
            start_ns,
            sessions: Sessions::default(),
            context,
            output: Vec::new(),
        })
    }

    /// Runs to the end; the error is why the replay has no result.
    pub fn run(mut self) -> io::Result<(Report, Counts)> {
        let limit_ns = self.start_ns.saturating_add(self.settings.limit_ns());
        loop {
            let now_ns = clock::now_ns();
            self.context.recorder.advance(now_ns);
            if now_ns >= self.context.recorder.end_ns() {
                break;
            }
            if now_ns >= limit_ns {
                self.end_sessions();
                let problem = "it did not end within its time limit; statements of it may wait \
                               for locks of each other for ever";
                return Err(io::Error::other(problem));
            }
            let next_ns = self.begin_due(now_ns);
            if self.is_at_end && self.sessions.is_empty() {
                self.context.recorder.end_early(clock::now_ns());
                break;
            }
            let until_ns = self.context.recorder.until_ns().min(next_ns);
            self.wait(until_ns.saturating_sub(clock::now_ns()))?;
            self.settle()?;
        }
        Ok(self.finish())
    }

    /// Hands all rows that are due to their sessions; returns when the next one is due.
    fn begin_due(&mut self, now_ns: i64) -> i64 {
        while self.context.queued < WINDOW {
            let Some((chunk, place)) = self.cursor.take() else {
                match self.chunks.try_recv() {
                    Ok(chunk) => self.cursor = Some((chunk, 0)),
                    Err(TryRecvError::Empty) => return now_ns + STARVED_WAIT_NS,
                    Err(TryRecvError::Disconnected) => {
                        self.is_at_end = true;
                        return i64::MAX;
                    }
                }
                continue;
            };
            let Some(row) = chunk.row(place) else {
                continue;
            };
            let (trace_session, is_last) = (row.session, row.is_last);
            let at_ns = self.settings.due_ns(self.start_ns, row.at_us);
            if at_ns > now_ns {
                self.cursor = Some((chunk, place));
                return at_ns;
            }
            self.cursor = Some((Arc::clone(&chunk), place + 1));
            let (token, is_new) = self.sessions.token(trace_session);
            if is_new {
                self.sessions.waiting.push_back(token);
                self.admit();
            }
            let due = Due {
                chunk,
                place,
                at_ns,
            };
            if let Some(session) = self.sessions.get(token) {
                session.push(due, is_last, &mut self.context);
            }
            self.proceed(token);
        }
        i64::MAX
    }

    fn proceed(&mut self, token: usize) {
        self.output.clear();
        let Some(session) = self.sessions.get(token) else {
            return;
        };
        session.proceed(&mut self.context, &mut self.output);
        if session.has_left() {
            self.sessions.changed.push(token);
        }
        if !self.output.is_empty() {
            self.network.send(token, &self.output);
        }
    }

    /// Requests connections for sessions that wait for one, as many as the source had at once.
    fn admit(&mut self) {
        while self.sessions.connected < self.settings.sessions {
            let Some(token) = self.sessions.waiting.pop_front() else {
                return;
            };
            self.sessions.connected += 1;
            self.opener.request(token, ());
        }
    }

    /// Closes what has left, and takes connections that were opened.
    fn settle(&mut self) -> io::Result<()> {
        while let Some(answer) = self.opener.answer() {
            self.opened(answer)?;
        }
        while let Some(token) = self.sessions.changed.pop() {
            let Some(session) = self.sessions.get(token) else {
                continue;
            };
            if session.has_left() {
                self.network.send(token, TERMINATE);
                self.network.remove(token);
                self.sessions.remove(token);
                self.sessions.connected -= 1;
                self.admit();
            } else {
                // It was lost: its statements fail one after the other.
                self.proceed(token);
            }
        }
        Ok(())
    }

    fn opened(&mut self, answer: Answer) -> io::Result<()> {
        let token = answer.place;
        let Some(session) = self.sessions.get(token) else {
            return Ok(());
        };
        match answer.session {
            Ok(opened) => {
                session.opened(opened.key, &mut self.context);
                self.network.add(token, opened.stream)?;
                let recorder = &mut self.context.recorder;
                recorder.connected(0, answer.took_ns, answer.cpu_ns);
            }
            Err(problem) => {
                session.lost(&format!("no new connection: {problem}"), &mut self.context);
            }
        }
        self.proceed(token);
        Ok(())
    }

    fn wait(&mut self, longest_ns: i64) -> io::Result<()> {
        // What has changed is looked at before anything else.
        let longest_ns = match self.sessions.changed.is_empty() {
            true => longest_ns.clamp(0, LONGEST_WAIT_NS),
            false => 0,
        };
        let timeout = Duration::from_nanos(u64::try_from(longest_ns).unwrap_or(0));
        let mut dispatch = Dispatch {
            sessions: &mut self.sessions,
            context: &mut self.context,
            broken: Vec::new(),
        };
        self.network.wait(timeout, &mut dispatch)?;
        for token in dispatch.broken {
            self.network.remove(token);
        }
        Ok(())
    }

    fn finish(mut self) -> (Report, Counts) {
        let now_ns = clock::now_ns();
        for (_, session) in self.sessions.all() {
            if let Some(attempt) = session.under_way() {
                self.context.recorder.leave_unfinished(now_ns, attempt);
            }
        }
        self.end_sessions();
        let mut report = self.context.recorder.into_report();
        report.connections = self.sessions.successes;
        report.backend = "replay";
        (report, self.context.counts)
    }

    /// Closes every session. Statements under way are cancelled, so that no backend runs on after
    /// this replay.
    fn end_sessions(&mut self) {
        let deadline_ns = clock::now_ns() + CANCEL_NS;
        let open: Vec<_> = self
            .sessions
            .all()
            .filter(|(_, session)| session.is_open())
            .map(|(token, session)| (token, session.is_busy(), session.key))
            .collect();
        for (token, is_busy, key) in open {
            if is_busy {
                let left_ns = deadline_ns - clock::now_ns();
                if let (Some(key), Ok(left_ns @ 1_000_000..)) = (key, u64::try_from(left_ns)) {
                    let _ = self.connector.cancel(key, Duration::from_nanos(left_ns));
                }
            } else {
                self.network.send(token, TERMINATE);
            }
            self.network.remove(token);
            self.sessions.remove(token);
        }
    }
}

struct Dispatch<'a> {
    sessions: &'a mut Sessions,
    context: &'a mut Context,
    /// Connections that do not speak the protocol, to be closed.
    broken: Vec<usize>,
}

impl Sink for Dispatch<'_> {
    fn event(&mut self, token: usize, event: Event<'_>, reply: &mut Vec<u8>) {
        let Some(session) = self.sessions.get(token) else {
            return;
        };
        let problem = match event {
            Event::Received(bytes) => match session.receive(bytes, self.context, reply) {
                Ok(()) if session.has_left() => {
                    self.sessions.changed.push(token);
                    return;
                }
                Ok(()) => return,
                Err(Malformed(problem)) => {
                    reply.clear();
                    self.broken.push(token);
                    format!("the server broke the protocol: {problem}")
                }
            },
            Event::Closed => "the server closed the connection".to_owned(),
            Event::Failed(error) => error.to_string(),
        };
        if !session.has_left() {
            session.lost(&problem, self.context);
            self.context.recorder.count_lost_connection();
        }
        self.sessions.changed.push(token);
    }
}
