//! One event loop thread with its own connections, counts and random numbers.
//!
//! Enters: opened connections and the schedule. Leaves: a [`Report`]. Never: shares anything
//! with another worker but relaxed counters, and never waits for ever: whatever the server does,
//! it ends within the grace time after the schedule.

use std::io;
use std::time::Duration;

use pgassay_session::{Stream, clock};

use crate::client::{Bench, Client, State};
use crate::messages::TERMINATE;
use crate::network::{Event, Network, Sink};
use crate::record::Report;

/// How long transactions under way at the end may take until they are cut.
const GRACE_NS: i64 = 5_000_000_000;
/// The longest wait, after which a request to stop is seen.
const LONGEST_WAIT_NS: i64 = 50_000_000;
/// The pause of a client whose script failed by itself, without a word to the server.
const FAULT_PAUSE_NS: i64 = 1_000_000;

pub struct Worker<'p, N> {
    network: N,
    clients: Vec<Client>,
    bench: Bench<'p>,
    output: Vec<u8>,
    /// The step whose clients have been let go.
    begun_step: Option<usize>,
}

impl<'p, N: Network> Worker<'p, N> {
    pub fn new(
        mut network: N,
        connections: Vec<(Client, Stream)>,
        bench: Bench<'p>,
    ) -> io::Result<Worker<'p, N>> {
        let mut clients = Vec::with_capacity(connections.len());
        for (token, (client, stream)) in connections.into_iter().enumerate() {
            network.add(token, stream)?;
            clients.push(client);
        }
        Ok(Worker {
            network,
            clients,
            bench,
            output: Vec::new(),
            begun_step: None,
        })
    }

    pub fn run(mut self) -> io::Result<Report> {
        loop {
            let now_ns = clock::now_ns();
            self.bench.recorder.advance(now_ns);
            let is_over = now_ns >= self.bench.recorder.end_ns();
            if is_over {
                let is_cut = now_ns >= self.bench.recorder.end_ns().saturating_add(GRACE_NS);
                if is_cut || !self.clients.iter().any(Client::is_busy) {
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
            self.begin_idle(now_ns);
            self.wake_due(now_ns);
            let until_ns = if self.bench.has_paused {
                now_ns.saturating_add(FAULT_PAUSE_NS)
            } else {
                self.bench.recorder.until_ns()
            };
            let until_ns = match self.bench.timers.next_ns() {
                Some(wake_ns) => until_ns.min(wake_ns),
                None => until_ns,
            };
            self.wait(until_ns.saturating_sub(now_ns))?;
        }
        Ok(self.finish())
    }

    /// Begins a transaction on every idle client that may run: when a step has begun and after
    /// the pause of a failed script; else clients go on by themselves.
    fn begin_idle(&mut self, now_ns: i64) {
        let position = self.bench.recorder.position();
        let step = position.map(|position| position.step);
        if step == self.begun_step && !self.bench.has_paused {
            return;
        }
        self.begun_step = step;
        self.bench.has_paused = false;
        for (token, client) in self.clients.iter_mut().enumerate() {
            self.output.clear();
            client.begin(now_ns, &mut self.bench, &mut self.output);
            if !self.output.is_empty() {
                self.network.send(token, &self.output);
            }
        }
    }

    /// Wakes the clients whose timers are due.
    fn wake_due(&mut self, now_ns: i64) {
        while let Some(number) = self.bench.timers.take_due(now_ns) {
            // Clients are in order of their numbers.
            let found = self
                .clients
                .binary_search_by_key(&number, |client| client.number);
            let Some((token, client)) = found
                .ok()
                .and_then(|token| Some((token, self.clients.get_mut(token)?)))
            else {
                continue;
            };
            self.output.clear();
            client.wake(now_ns, &mut self.bench, &mut self.output);
            if !self.output.is_empty() {
                self.network.send(token, &self.output);
            }
        }
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
        for token in dispatch.broken {
            self.network.remove(token);
        }
        Ok(())
    }

    /// Says goodbye on connections at rest; those that are cut are just closed.
    fn finish(mut self) -> Report {
        for (token, client) in self.clients.iter().enumerate() {
            if client.state == State::Idle {
                self.network.send(token, TERMINATE);
            }
            self.bench.board.leave(client.number);
            self.network.remove(token);
        }
        let mut report = self.bench.recorder.into_report();
        let connections = self.clients.iter();
        report.connections = connections
            .filter_map(|client| Some((client.number, client.measured?)))
            .collect();
        report.backend = self.network.name();
        report
    }
}

struct Dispatch<'a, 'p> {
    clients: &'a mut [Client],
    bench: &'a mut Bench<'p>,
    /// Connections that do not speak the protocol, to be closed.
    broken: Vec<usize>,
}

impl Sink for Dispatch<'_, '_> {
    fn event(&mut self, token: usize, event: Event<'_>, reply: &mut Vec<u8>) {
        let Some(client) = self.clients.get_mut(token) else {
            return;
        };
        match event {
            Event::Received(bytes) => {
                if client.receive(bytes, self.bench, reply).is_err() {
                    client.lose("the server broke the protocol", self.bench);
                    reply.clear();
                    self.broken.push(token);
                }
            }
            Event::Closed => client.lose("the server closed it", self.bench),
            Event::Failed(error) => client.lose(&error.to_string(), self.bench),
        }
    }
}
