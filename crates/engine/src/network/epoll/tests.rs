//! Tests of `epoll`.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use super::*;

/// Answers every received piece with its length, and notes what it saw.
#[derive(Default)]
struct Echo {
    received: usize,
    ends: Vec<usize>,
}

impl Sink for Echo {
    fn event(&mut self, token: usize, event: Event<'_>, reply: &mut Vec<u8>) {
        match event {
            Event::Received(bytes) => {
                self.received += bytes.len();
                reply.push(b'!');
            }
            Event::Closed | Event::Failed(_) => self.ends.push(token),
        }
    }
}

fn pair(network: &mut Epoll, token: usize) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    network.add(token, Stream::Unix(ours)).unwrap();
    theirs
}

const SOON: Duration = Duration::from_millis(200);

#[test]
fn what_arrives_is_reported_and_the_reply_sent() {
    let mut network = Epoll::new().unwrap();
    let mut peer = pair(&mut network, 3);
    peer.write_all(b"hello").unwrap();
    let mut echo = Echo::default();
    network.wait(SOON, &mut echo).unwrap();
    assert_eq!(echo.received, 5);
    let mut reply = [0; 1];
    peer.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"!");
}

#[test]
fn a_message_larger_than_the_socket_takes_arrives_whole() {
    let mut network = Epoll::new().unwrap();
    let mut peer = pair(&mut network, 0);
    let message = vec![7u8; 3_000_000];
    network.send(0, &message);
    network.send(0, b"end");
    let reading = std::thread::spawn(move || {
        let mut all = vec![0; 3_000_003];
        peer.read_exact(&mut all).unwrap();
        all
    });
    let mut echo = Echo::default();
    while !reading.is_finished() {
        network.wait(Duration::from_millis(5), &mut echo).unwrap();
    }
    let all = reading.join().unwrap();
    assert!(all.starts_with(&message) && all.ends_with(b"end"));
}

#[test]
fn a_large_arrival_is_read_to_its_end_and_then_the_close_is_seen() {
    let mut network = Epoll::new().unwrap();
    let mut peer = pair(&mut network, 1);
    let writing = std::thread::spawn(move || peer.write_all(&vec![1; 5_000_000]).unwrap());
    let mut echo = Echo::default();
    for _ in 0..100_000 {
        network.wait(SOON, &mut echo).unwrap();
        if !echo.ends.is_empty() {
            break;
        }
    }
    writing.join().unwrap();
    assert_eq!((echo.received, &echo.ends[..]), (5_000_000, &[1][..]));
}

#[test]
fn last_words_and_the_close_behind_them_are_both_seen() {
    let mut network = Epoll::new().unwrap();
    let mut peer = pair(&mut network, 0);
    peer.write_all(b"FATAL").unwrap();
    drop(peer);
    let mut echo = Echo::default();
    network.wait(SOON, &mut echo).unwrap();
    assert_eq!((echo.received, &echo.ends[..]), (5, &[0][..]));
}

#[test]
fn sending_to_a_closed_peer_ends_the_connection_once() {
    let mut network = Epoll::new().unwrap();
    drop(pair(&mut network, 0));
    network.send(0, b"x");
    let mut echo = Echo::default();
    network.wait(SOON, &mut echo).unwrap();
    network.wait(Duration::ZERO, &mut echo).unwrap();
    assert_eq!(echo.ends, [0]);
}
