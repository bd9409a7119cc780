//! Tests that every backend must pass.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use pgassay_session::Stream;

use super::{BusyPoll, Epoll, Event, Network, Sink, Uring};

const SOON: Duration = Duration::from_millis(200);
/// Far longer than any test here takes; reaching it is a failure.
const LIMIT: Duration = Duration::from_secs(30);

/// Answers every received piece with a mark, and records the events.
#[derive(Default)]
struct Echo {
    received: usize,
    ends: Vec<usize>,
    is_silent: bool,
    /// Bytes per token and their sum, so that a wrong order or owner is detected.
    by_token: Vec<Vec<u8>>,
}

impl Sink for Echo {
    fn event(&mut self, token: usize, event: Event<'_>, reply: &mut Vec<u8>) {
        assert!(reply.is_empty());
        match event {
            Event::Received(bytes) => {
                self.received += bytes.len();
                if self.by_token.len() <= token {
                    self.by_token.resize(token + 1, Vec::new());
                }
                if bytes.len() < 100 {
                    self.by_token[token].extend_from_slice(bytes);
                }
                if !self.is_silent {
                    reply.push(b'!');
                }
            }
            Event::Closed | Event::Failed(_) => self.ends.push(token),
        }
    }
}

fn pair<N: Network>(network: &mut N, token: usize) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_read_timeout(Some(LIMIT)).unwrap();
    network.add(token, Stream::Unix(ours)).unwrap();
    theirs
}

/// Waits for events until `done` says so.
fn wait_until<N: Network>(network: &mut N, echo: &mut Echo, mut done: impl FnMut(&Echo) -> bool) {
    let begin = Instant::now();
    while !done(echo) {
        assert!(begin.elapsed() < LIMIT, "nothing came of it");
        network.wait(SOON, echo).unwrap();
    }
}

fn what_arrives_is_reported_and_the_reply_sent<N: Network>(network: &mut N) {
    let mut peer = pair(network, 3);
    peer.write_all(b"hello").unwrap();
    let mut echo = Echo::default();
    wait_until(network, &mut echo, |echo| echo.received == 5);
    // The reply may go out with the next wait.
    network.wait(Duration::ZERO, &mut echo).unwrap();
    let mut reply = [0; 1];
    peer.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"!");
}

fn fragments_arrive_in_order_and_apart<N: Network>(network: &mut N) {
    let mut peers: Vec<_> = (0..5).map(|token| pair(network, token)).collect();
    let mut echo = Echo::default();
    for byte in 0..50u8 {
        for (token, peer) in peers.iter_mut().enumerate() {
            peer.write_all(&[byte, token as u8]).unwrap();
        }
        network.wait(Duration::ZERO, &mut echo).unwrap();
    }
    wait_until(network, &mut echo, |echo| echo.received == 500);
    for (token, bytes) in echo.by_token.iter().enumerate() {
        let expected: Vec<u8> = (0..50u8).flat_map(|byte| [byte, token as u8]).collect();
        assert_eq!(bytes, &expected);
    }
}

fn a_message_larger_than_the_socket_takes_arrives_whole<N: Network>(network: &mut N) {
    let mut peer = pair(network, 0);
    let message: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
    network.send(0, &message);
    network.send(0, b"end");
    let mut echo = Echo::default();
    network.wait(Duration::ZERO, &mut echo).unwrap();
    network.send(0, b"and more");
    let reading = thread::spawn(move || {
        // A reader that starts slowly: the sender finds the socket full repeatedly.
        let mut all = vec![0; 3_000_011];
        let (slow, rest) = all.split_at_mut(50_000);
        for part in slow.chunks_mut(100) {
            peer.read_exact(part).unwrap();
        }
        peer.read_exact(rest).unwrap();
        all
    });
    while !reading.is_finished() {
        network.wait(Duration::from_millis(5), &mut echo).unwrap();
    }
    let all = reading.join().unwrap();
    assert!(all == [&message, &b"endand more"[..]].concat());
}

fn a_full_socket_does_not_hold_up_the_others<N: Network>(network: &mut N) {
    let _stuck = pair(network, 0);
    let mut lively = pair(network, 1);
    network.send(0, &vec![0; 2_000_000]);
    let mut echo = Echo::default();
    for round in 1..=20 {
        lively.write_all(b"x").unwrap();
        wait_until(network, &mut echo, |echo| echo.received == round);
        network.wait(Duration::ZERO, &mut echo).unwrap();
        lively.read_exact(&mut [0; 1]).unwrap();
    }
}

fn a_large_arrival_is_read_to_its_end_and_then_the_close_is_seen<N: Network>(network: &mut N) {
    let mut peer = pair(network, 1);
    let writing = thread::spawn(move || {
        for _ in 0..50 {
            peer.write_all(&vec![1; 1_000_000]).unwrap();
        }
    });
    let mut echo = Echo {
        is_silent: true,
        ..Echo::default()
    };
    wait_until(network, &mut echo, |echo| !echo.ends.is_empty());
    writing.join().unwrap();
    assert_eq!((echo.received, &echo.ends[..]), (50_000_000, &[1][..]));
}

fn last_words_and_the_close_behind_them_are_both_seen<N: Network>(network: &mut N) {
    let mut peer = pair(network, 0);
    peer.write_all(b"FATAL").unwrap();
    drop(peer);
    let mut echo = Echo::default();
    wait_until(network, &mut echo, |echo| !echo.ends.is_empty());
    assert_eq!((echo.received, &echo.ends[..]), (5, &[0][..]));
}

fn sending_to_a_closed_peer_ends_the_connection_once<N: Network>(network: &mut N) {
    drop(pair(network, 0));
    network.send(0, b"x");
    let mut echo = Echo::default();
    wait_until(network, &mut echo, |echo| !echo.ends.is_empty());
    network.wait(Duration::ZERO, &mut echo).unwrap();
    network.wait(Duration::ZERO, &mut echo).unwrap();
    assert_eq!(echo.ends, [0]);
}

fn a_thousand_sockets_are_served_each_its_own<N: Network>(network: &mut N) {
    let mut peers: Vec<_> = (0..1000).map(|token| pair(network, token)).collect();
    let mut echo = Echo::default();
    for round in 1..=3 {
        for (token, peer) in peers.iter_mut().enumerate() {
            peer.write_all(&(token as u32).to_be_bytes()).unwrap();
        }
        wait_until(network, &mut echo, |echo| echo.received == round * 4000);
        network.wait(Duration::ZERO, &mut echo).unwrap();
        for peer in &mut peers {
            peer.read_exact(&mut [0; 1]).unwrap();
        }
    }
    for (token, bytes) in echo.by_token.iter().enumerate() {
        assert_eq!(bytes, &(token as u32).to_be_bytes().repeat(3));
    }
}

/// Far more arrives at once than the buffers for one connection hold.
fn bursts_beyond_all_buffers_lose_nothing<N: Network>(network: &mut N) {
    let peers: Vec<_> = (0..40).map(|token| pair(network, token)).collect();
    for mut peer in &peers {
        peer.write_all(&[3; 100_000]).unwrap();
    }
    let mut echo = Echo::default();
    wait_until(network, &mut echo, |echo| echo.received == 4_000_000);
    drop(peers);
    wait_until(network, &mut echo, |echo| echo.ends.len() == 40);
}

fn a_removed_connection_is_silent_and_its_token_free<N: Network>(network: &mut N) {
    let mut echo = Echo::default();
    for _ in 0..100 {
        let mut peer = pair(network, 0);
        peer.write_all(b"unread").unwrap();
        network.send(0, &vec![0; 1_000_000]);
        network.wait(Duration::ZERO, &mut echo).unwrap();
        let before = echo.received;
        peer.write_all(b"too late").unwrap();
        network.remove(0);
        let mut peer = pair(network, 0);
        peer.write_all(b"next").unwrap();
        wait_until(network, &mut echo, |echo| echo.received > before);
        assert_eq!(echo.received, before + 4);
        network.remove(0);
    }
    assert_eq!(echo.ends, [0; 0]);
}

/// A lost session and the one opened in its place.
fn a_token_whose_peer_has_closed_serves_another_connection<N: Network>(network: &mut N) {
    let mut bystander = pair(network, 1);
    let mut echo = Echo::default();
    for round in 1..=100 {
        let mut peer = pair(network, 0);
        peer.write_all(b"x").unwrap();
        bystander.write_all(b"y").unwrap();
        wait_until(network, &mut echo, |echo| echo.received == 2 * round);
        network.send(0, &[7; 100]);
        drop(peer);
        wait_until(network, &mut echo, |echo| echo.ends.len() == round);
    }
    assert_eq!(echo.ends, [0; 100]);
}

fn a_goodbye_before_removal_is_still_heard<N: Network>(network: &mut N) {
    let mut peer = pair(network, 0);
    network.send(0, b"bye");
    network.remove(0);
    let mut heard = Vec::new();
    peer.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"bye");
}

/// The end of a load, where a reply and Terminate may be sent in one turn.
fn a_goodbye_behind_another_message_of_the_same_turn_is_still_heard<N: Network>(network: &mut N) {
    let mut echo = Echo::default();
    for round in 1..=50 {
        let mut peer = pair(network, 0);
        network.send(0, b"word");
        network.send(0, b"bye");
        network.remove(0);
        // The token serves another at once.
        let mut next = pair(network, 0);
        next.write_all(b"x").unwrap();
        wait_until(network, &mut echo, |echo| echo.received == round);
        network.wait(Duration::ZERO, &mut echo).unwrap();
        let mut heard = Vec::new();
        peer.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, b"wordbye");
        network.remove(0);
    }
    assert_eq!(echo.ends, [0; 0]);
}

fn a_goodbye_behind_what_the_socket_does_not_take_holds_nothing_up<N: Network>(network: &mut N) {
    let stuck = pair(network, 0);
    network.send(0, &vec![0; 2_000_000]);
    network.send(0, b"bye");
    network.remove(0);
    let mut lively = pair(network, 0);
    lively.write_all(b"x").unwrap();
    let mut echo = Echo::default();
    wait_until(network, &mut echo, |echo| echo.received == 1);
    network.wait(Duration::ZERO, &mut echo).unwrap();
    lively.read_exact(&mut [0; 1]).unwrap();
    drop(stuck);
    assert_eq!(echo.ends, [0; 0]);
}

fn a_wait_without_events_ends_in_time<N: Network>(network: &mut N) {
    let _peer = pair(network, 0);
    let mut echo = Echo::default();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(30) {
        network.wait(Duration::from_millis(30), &mut echo).unwrap();
    }
    network.wait(Duration::ZERO, &mut echo).unwrap();
    assert!(begin.elapsed() < LIMIT);
    assert_eq!(echo.received, 0);
}

fn an_end_with_everything_under_way_is_clean<N: Network>(network: &mut N) {
    let peers: Vec<_> = (0..20).map(|token| pair(network, token)).collect();
    for token in 0..20 {
        network.send(token, &vec![0; 1_000_000]);
    }
    network.wait(Duration::ZERO, &mut Echo::default()).unwrap();
    for mut peer in &peers {
        peer.write_all(b"never read").unwrap();
    }
}

fn polls() -> [BusyPoll; 2] {
    [0, 50].map(|us| BusyPoll::new(Duration::from_micros(us)))
}

/// Each test on each backend, sleeping at once and looking first; io_uring only where it may be
/// used.
macro_rules! contract {
    ($($test:ident)*) => {
        mod epoll {
            $(#[test] fn $test() {
                for poll in super::polls() {
                    super::$test(&mut super::Epoll::new(poll).unwrap());
                }
            })*
        }
        mod uring {
            $(#[test] fn $test() {
                for poll in super::polls() {
                    match super::Uring::new(1, poll) {
                        Ok(mut network) => super::$test(&mut network),
                        Err(error) => eprintln!("skipped, no io_uring here: {error}"),
                    }
                }
            })*
        }
    };
}

contract! {
    what_arrives_is_reported_and_the_reply_sent
    fragments_arrive_in_order_and_apart
    a_message_larger_than_the_socket_takes_arrives_whole
    a_full_socket_does_not_hold_up_the_others
    a_large_arrival_is_read_to_its_end_and_then_the_close_is_seen
    last_words_and_the_close_behind_them_are_both_seen
    sending_to_a_closed_peer_ends_the_connection_once
    a_thousand_sockets_are_served_each_its_own
    bursts_beyond_all_buffers_lose_nothing
    a_removed_connection_is_silent_and_its_token_free
    a_token_whose_peer_has_closed_serves_another_connection
    a_goodbye_before_removal_is_still_heard
    a_goodbye_behind_another_message_of_the_same_turn_is_still_heard
    a_goodbye_behind_what_the_socket_does_not_take_holds_nothing_up
    a_wait_without_events_ends_in_time
    an_end_with_everything_under_way_is_clean
}
