//! The sockets of one worker thread, with an interface based on completions.
//!
//! Enters: connected streams, bytes to send. Leaves: received bytes and ends of connections.
//! Never: blocks except in `wait`, or interprets the bytes.
//!
//! A backend passes on bytes that it has already received and takes bytes that it will send. This
//! is how io_uring works, and epoll can provide it too.

mod alarm;
mod epoll;
mod poll;
mod transport;
mod uring;

#[cfg(test)]
mod contract_tests;

use std::io;
use std::time::Duration;

use pgassay_session::Stream;

pub use epoll::Epoll;
pub use poll::{BusyPoll, thread_polled_ns};
pub use transport::{Backend, Transport};
pub use uring::Uring;

#[derive(Debug)]
pub enum Event<'a> {
    Received(&'a [u8]),
    /// The peer has closed the connection.
    Closed,
    Failed(io::Error),
}

/// What `wait` calls per event: the token, the event, and the reply, sent when it returns.
/// After `Closed` or `Failed` the backend forgets the token, and a reply is dropped.
pub trait Sink {
    fn event(&mut self, token: usize, event: Event<'_>, reply: &mut Vec<u8>);
}

pub trait Network {
    /// Takes over a stream under a token, a small number that is not in use.
    fn add(&mut self, token: usize, stream: Stream) -> io::Result<()>;

    /// Closes the connection, without an event.
    fn remove(&mut self, token: usize);

    /// Accepts the whole message; what the socket does not take now is sent when it can. A
    /// failure is an event of the next `wait`.
    fn send(&mut self, token: usize, bytes: &[u8]);

    /// Waits for events, at most for `timeout`, and reports them; it may return without any.
    fn wait(&mut self, timeout: Duration, sink: &mut impl Sink) -> io::Result<()>;

    fn name(&self) -> &'static str;
}
