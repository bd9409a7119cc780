//! One event loop thread with its own connections, counts and random numbers.
//!
//! Enters: opened connections and the schedule. Leaves: a [`Report`]. Never: shares anything
//! with another worker but relaxed counters and the arrivals, and never waits for ever: whatever
//! the server does, it ends within the grace time after the schedule.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pgassay_session::{Stream, clock};

use crate::client::{Bench, Client};
use crate::messages::TERMINATE;
use crate::network::{Event, Network, Sink};
use crate::record::Report;
use crate::reopen::Opener;
use crate::setup::Setup;

/// How long transactions under way at the end may take until they are cut.
const GRACE_NS: i64 = 5_000_000_000;
/// How long the statements of those that are cut may take to heed the request to cancel.
const CANCEL_NS: i64 = 1_000_000_000;
/// The longest wait, after which a request to stop is seen.
const LONGEST_WAIT_NS: i64 = 50_000_000;

pub struct Worker<'p, N> {
    setup: &'p Setup,
    network: N,
    clients: Vec<Client>,
    bench: Bench<'p>,
    output: Vec<u8>,
    /// The step and slice whose clients have been let go.
    begun: (Option<usize>, Option<usize>),
    opener: Option<Opener>,
    /// When statements under way were cancelled.
    cancelled_ns: Option<i64>,
}

impl<'p, N: Network> Worker<'p, N> {
    pub fn new(
        mut network: N,
        connections: Vec<(Client, Stream)>,
        bench: Bench<'p>,
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
            let (started, bell) = Opener::start(setup, clients.len())?;
            network.add(clients.len(), bell)?;
            opener = Some(started);
        }
        Ok(Worker {
            setup,
            network,
            clients,
            bench,
            output: Vec::new(),
            begun: (None, None),
            opener,
            cancelled_ns: None,
        })
    }

    /// The report, or why the load is of no use.
    pub fn run(mut self) -> io::Result<Report> {
        loop {
            let now_ns = clock::now_ns();
            self.bench.recorder.advance(now_ns);
            if let Some(problem) = self.problem() {
                return Err(io::Error::other(problem));
            }
            if now_ns >= self.bench.recorder.end_ns() {
                if !self.clients.iter().any(Client::is_busy) || self.is_cut(now_ns) {
                    break;
                }
            } else if self
                .clients
                .iter()
                .all(|client| client.is_finished(&self.bench))
            {
                self.bench.recorder.end_early(now_ns);
                break;
            }
            self.let_go(now_ns);
            self.exchange_sessions()?;
            let timer_ns = self.bench.pace.timers.next_ns().unwrap_or(i64::MAX);
            let until_ns = self.bench.recorder.until_ns().min(timer_ns);
            // Time has passed since the loop began.
            self.wait(until_ns.saturating_sub(clock::now_ns()))?;
            self.exchange_sessions()?;
        }
        self.finish()
    }

    fn problem(&mut self) -> Option<String> {
        let pace = &mut self.bench.pace;
        if let Some(error) = pace.log.as_mut().and_then(|log| log.problem()) {
            return Some(format!("cannot write the transaction log: {error}"));
        }
        pace.fatal.take()
    }

    /// Whether what is still under way after the schedule is to be cut now. The server is asked
    /// to cancel first: a backend must not run on into whatever comes after this load.
    fn is_cut(&mut self, now_ns: i64) -> bool {
        if let Some(cancelled_ns) = self.cancelled_ns {
            return now_ns >= cancelled_ns.saturating_add(CANCEL_NS);
        }
        if now_ns < self.bench.recorder.end_ns().saturating_add(GRACE_NS) {
            return false;
        }
        if !self.clients.iter().any(Client::awaits_server) {
            // Those that sleep have nothing on the server to be cancelled.
            return true;
        }
        let deadline_ns = now_ns.saturating_add(CANCEL_NS);
        for client in self.clients.iter().filter(|client| client.awaits_server()) {
            let left_ns = deadline_ns.saturating_sub(clock::now_ns());
            let Ok(left_ns @ 1_000_000..) = u64::try_from(left_ns) else {
                break;
            };
            let connector = self.setup.connector(client.seat);
            // A server that does not take the request cannot be told in another way.
            let _ = connector.cancel(client.key, Duration::from_nanos(left_ns));
        }
        self.cancelled_ns = Some(clock::now_ns());
        false
    }

    /// Looks at the clients whose timer is due and, at the edge of a step or slice, at all of
    /// them; else clients go on by themselves.
    fn let_go(&mut self, now_ns: i64) {
        let position = self.bench.recorder.position();
        let begun = (
            position.map(|position| position.step),
            position.and_then(|position| position.slice),
        );
        if begun != self.begun {
            self.begun = begun;
            for place in 0..self.clients.len() {
                self.go_on(place, now_ns);
            }
        }
        while let Some(place) = self.bench.pace.timers.pop(now_ns) {
            self.go_on(place, now_ns);
        }
    }

    fn go_on(&mut self, place: usize, now_ns: i64) {
        let Some(client) = self.clients.get_mut(place) else {
            return;
        };
        self.output.clear();
        client.go_on(now_ns, &mut self.bench, &mut self.output);
        if !self.output.is_empty() {
            self.network.send(place, &self.output);
        }
    }

    /// Closes sessions that have had their transaction, asks for new ones, takes those that came.
    fn exchange_sessions(&mut self) -> io::Result<()> {
        while let Some(place) = self.bench.pace.closing.pop() {
            self.network.send(place, TERMINATE);
            self.network.remove(place);
        }
        let Some(opener) = &self.opener else {
            return Ok(());
        };
        while let Some(place) = self.bench.pace.wanted.pop() {
            if let Some(client) = self.clients.get(place) {
                opener.request(place, client.seat);
            }
        }
        while let Some(answer) = self.opener.as_ref().and_then(Opener::answer) {
            let place = answer.place;
            let Some(client) = self.clients.get_mut(place) else {
                continue;
            };
            if let Some(stream) = client.opened(answer, &mut self.bench) {
                self.network.add(place, stream)?;
                self.go_on(place, clock::now_ns());
            }
        }
        Ok(())
    }

    fn wait(&mut self, longest_ns: i64) -> io::Result<()> {
        let nanoseconds = longest_ns.clamp(0, LONGEST_WAIT_NS);
        let timeout = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0));
        let mut dispatch = Dispatch {
            clients: &mut self.clients,
            bench: &mut self.bench,
            broken: Vec::new(),
        };
        self.network.wait(timeout, &mut dispatch)?;
        for place in dispatch.broken {
            self.network.remove(place);
        }
        Ok(())
    }

    /// Says goodbye on connections at rest; those that are cut are just closed.
    fn finish(mut self) -> io::Result<Report> {
        let now_ns = clock::now_ns();
        let end_ns = self.bench.recorder.end_ns().min(now_ns);
        for (place, client) in self.clients.iter().enumerate() {
            if let Some(attempt) = client.under_way() {
                self.bench.recorder.leave_unfinished(now_ns, attempt);
            }
            if client.is_at_rest() {
                self.network.send(place, TERMINATE);
            }
            if let Some(lost_ns) = client.lost_ns().filter(|&lost_ns| lost_ns < end_ns) {
                self.bench.recorder.outage(lost_ns, end_ns);
            }
            self.bench.board.leave(client.number);
            self.network.remove(place);
        }
        if let Some(log) = self.bench.pace.log {
            log.finish(end_ns)?;
        }
        let mut report = self.bench.recorder.into_report();
        let connections = self.clients.iter();
        report.connections = connections
            .filter_map(|client| Some((client.number, client.measured?)))
            .collect();
        report.backend = self.network.name();
        Ok(report)
    }
}

struct Dispatch<'a, 'p> {
    clients: &'a mut [Client],
    bench: &'a mut Bench<'p>,
    /// Connections that do not speak the protocol, to be closed.
    broken: Vec<usize>,
}

impl Sink for Dispatch<'_, '_> {
    fn event(&mut self, place: usize, event: Event<'_>, reply: &mut Vec<u8>) {
        // The place behind the last client is the bell of opened sessions: it has no words.
        let Some(client) = self.clients.get_mut(place) else {
            return;
        };
        match event {
            Event::Received(bytes) => {
                if client.receive(bytes, self.bench, reply).is_err() {
                    client.lose("the server broke the protocol", self.bench);
                    reply.clear();
                    self.broken.push(place);
                }
            }
            Event::Closed => client.lose("the server closed it", self.bench),
            Event::Failed(error) => client.lose(&error.to_string(), self.bench),
        }
    }
}
