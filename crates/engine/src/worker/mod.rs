//! One event loop thread with its own connections, counts and random numbers.
//!
//! Enters: opened connections and the schedule. Leaves: a [`Report`]. Never: shares anything with
//! another worker except relaxed counters and the arrivals, or waits for ever: whatever the server
//! does, it ends within the grace time after the schedule.

pub mod clients;
pub mod running;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pgassay_session::{Stream, clock};

use crate::client::{Client, WorkerContext};
use crate::config::Assignment;
use crate::messages::{Malformed, TERMINATE};
use crate::network::{Event, Network, Sink};
use crate::record::Report;
use crate::sessions::open::open_session;
use crate::sessions::reopen::{Open, SessionOpener};
use crate::setup::Setup;

/// How long transactions running at the end may take until they are cut, and those running when
/// the load is stopped, whose counts nobody needs: short ones end by themselves.
const GRACE_NS: i64 = 5_000_000_000;
const STOP_GRACE_NS: i64 = 100_000_000;
/// How long cancelled statements may take to end.
const CANCEL_NS: i64 = 1_000_000_000;
/// The longest wait, which bounds the delay of a request to stop.
const LONGEST_WAIT_NS: i64 = 50_000_000;

pub struct Worker<'p, N> {
    setup: &'p Setup,
    network: N,
    clients: Vec<Client>,
    context: WorkerContext<'p>,
    output: Vec<u8>,
    /// The step and slice whose clients have been started.
    begun: (Option<usize>, Option<usize>),
    opener: Option<SessionOpener<Assignment>>,
    /// When running statements were cancelled.
    cancelled_ns: Option<i64>,
}

impl<'p, N: Network> Worker<'p, N> {
    pub fn new(
        mut network: N,
        connections: Vec<(Client, Stream)>,
        context: WorkerContext<'p>,
        setup: &'p Arc<Setup>,
    ) -> io::Result<Worker<'p, N>> {
        let mut clients = Vec::with_capacity(connections.len());
        for (place, (mut client, stream)) in connections.into_iter().enumerate() {
            network.add(place, stream)?;
            client.place = place;
            clients.push(client);
        }
        let mut opener = None;
        if setup.reconnects() {
            let of_load = Arc::clone(setup);
            let open: Open<Assignment> = Arc::new(move |wanted| open_session(wanted, &of_load));
            let (started, waker) = SessionOpener::start(&open, clients.len())?;
            network.add(clients.len(), waker)?;
            opener = Some(started);
        }
        Ok(Worker {
            setup,
            network,
            clients,
            context,
            output: Vec::new(),
            begun: (None, None),
            opener,
            cancelled_ns: None,
        })
    }

    /// Runs to the end; the error is why the load has no result.
    pub fn run(mut self) -> io::Result<Report> {
        loop {
            let now_ns = clock::now_ns();
            self.context.recorder.advance(now_ns);
            if let Some(problem) = self.problem() {
                return Err(io::Error::other(problem));
            }
            if now_ns >= self.context.recorder.end_ns() {
                if !self.clients.iter().any(Client::is_busy) || self.is_cut(now_ns) {
                    break;
                }
            } else if self
                .clients
                .iter()
                .all(|client| client.is_finished(&self.context))
            {
                self.context.recorder.end_early(now_ns);
                break;
            }
            self.start_clients(now_ns);
            self.exchange_sessions()?;
            let timer_ns = self.context.pace.timers.next_ns().unwrap_or(i64::MAX);
            let until_ns = self.context.recorder.until_ns().min(timer_ns);
            // Time has passed since the loop began.
            self.wait(until_ns.saturating_sub(clock::now_ns()))?;
            self.exchange_sessions()?;
        }
        self.finish()
    }

    fn problem(&mut self) -> Option<String> {
        let pace = &mut self.context.pace;
        if let Some(error) = pace.log.as_mut().and_then(|log| log.problem()) {
            return Some(format!("cannot write the transaction log: {error}"));
        }
        pace.fatal.take()
    }

    /// Whether transactions that still run after the schedule are to be cut now. The server is
    /// asked to cancel them first, so that no backend runs on after this load.
    fn is_cut(&mut self, now_ns: i64) -> bool {
        if let Some(cancelled_ns) = self.cancelled_ns {
            return now_ns >= cancelled_ns.saturating_add(CANCEL_NS);
        }
        let grace_ns = if self.context.recorder.is_stopped() {
            STOP_GRACE_NS
        } else {
            GRACE_NS
        };
        if now_ns < self.context.recorder.end_ns().saturating_add(grace_ns) {
            return false;
        }
        if !self.clients.iter().any(Client::awaits_server) {
            // Sleeping scripts have no statement to cancel.
            return true;
        }
        self.context.pace.is_over = true;
        let deadline_ns = now_ns.saturating_add(CANCEL_NS);
        for client in self.clients.iter().filter(|client| client.awaits_server()) {
            let left_ns = deadline_ns.saturating_sub(clock::now_ns());
            let Ok(left_ns @ 1_000_000..) = u64::try_from(left_ns) else {
                break;
            };
            let connector = self.setup.connector(client.assignment);
            // If the server does not accept the request, there is no other way to cancel.
            let _ = connector.cancel(client.key, Duration::from_nanos(left_ns));
        }
        self.cancelled_ns = Some(clock::now_ns());
        false
    }

    /// Runs the clients whose timer is due and, at the edge of a step or slice, all of them; at
    /// other times the server's answers drive the clients.
    fn start_clients(&mut self, now_ns: i64) {
        let position = self.context.recorder.position();
        let begun = (
            position.map(|position| position.step),
            position.and_then(|position| position.slice),
        );
        if begun != self.begun {
            self.begun = begun;
            for place in 0..self.clients.len() {
                self.run_idle(place, now_ns);
            }
        }
        while let Some(place) = self.context.pace.timers.pop(now_ns) {
            self.run_idle(place, now_ns);
        }
    }

    fn run_idle(&mut self, place: usize, now_ns: i64) {
        let Some(client) = self.clients.get_mut(place) else {
            return;
        };
        self.output.clear();
        client.run_idle(now_ns, &mut self.context, &mut self.output);
        if !self.output.is_empty() {
            self.network.send(place, &self.output);
        }
    }

    /// Closes used sessions, requests new ones and takes those that were opened.
    fn exchange_sessions(&mut self) -> io::Result<()> {
        while let Some(place) = self.context.pace.closing.pop() {
            self.network.send(place, TERMINATE);
            self.network.remove(place);
        }
        let Some(opener) = &self.opener else {
            return Ok(());
        };
        while let Some(place) = self.context.pace.wanted.pop() {
            if let Some(client) = self.clients.get(place) {
                opener.request(place, client.assignment);
            }
        }
        while let Some(answer) = self.opener.as_ref().and_then(SessionOpener::answer) {
            let place = answer.place;
            let Some(client) = self.clients.get_mut(place) else {
                continue;
            };
            if let Some(stream) = client.opened(answer, &mut self.context) {
                self.network.add(place, stream)?;
                self.run_idle(place, clock::now_ns());
            }
        }
        Ok(())
    }

    fn wait(&mut self, longest_ns: i64) -> io::Result<()> {
        let nanoseconds = longest_ns.clamp(0, LONGEST_WAIT_NS);
        let timeout = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0));
        let mut dispatch = Dispatch {
            clients: &mut self.clients,
            context: &mut self.context,
            broken: Vec::new(),
        };
        self.network.wait(timeout, &mut dispatch)?;
        for place in dispatch.broken {
            self.network.remove(place);
        }
        Ok(())
    }

    /// Sends Terminate on idle connections; connections that are cut are just closed.
    fn finish(mut self) -> io::Result<Report> {
        let now_ns = clock::now_ns();
        let end_ns = self.context.recorder.end_ns().min(now_ns);
        for (place, client) in self.clients.iter().enumerate() {
            if let Some(attempt) = client.under_way() {
                self.context.recorder.leave_unfinished(now_ns, attempt);
            }
            if client.is_at_rest() {
                self.network.send(place, TERMINATE);
            }
            if let Some(lost_ns) = client.lost_ns().filter(|&lost_ns| lost_ns < end_ns) {
                self.context.recorder.outage(lost_ns, end_ns);
            }
            self.context.board.leave(client.slot);
            self.network.remove(place);
        }
        if let Some(log) = self.context.pace.log {
            log.finish(end_ns)?;
        }
        let mut report = self.context.recorder.into_report();
        let connections = self.clients.iter();
        report.connections = connections
            .filter_map(|client| Some((client.assignment.number, client.measured?)))
            .collect();
        report.backend = self.network.name();
        Ok(report)
    }
}

struct Dispatch<'a, 'p> {
    clients: &'a mut [Client],
    context: &'a mut WorkerContext<'p>,
    /// Connections that do not speak the protocol, to be closed.
    broken: Vec<usize>,
}

impl Sink for Dispatch<'_, '_> {
    fn event(&mut self, place: usize, event: Event<'_>, reply: &mut Vec<u8>) {
        // The index after the last client is the wake-up socket of opened sessions, without data.
        let Some(client) = self.clients.get_mut(place) else {
            return;
        };
        match event {
            Event::Received(bytes) => {
                if let Err(Malformed(problem)) = client.receive(bytes, self.context, reply) {
                    let problem = format!("the server broke the protocol: {problem}");
                    client.connection_lost(&problem, self.context);
                    reply.clear();
                    self.broken.push(place);
                }
            }
            Event::Closed => client.connection_lost("the server closed it", self.context),
            Event::Failed(error) => client.connection_lost(&error.to_string(), self.context),
        }
    }
}
