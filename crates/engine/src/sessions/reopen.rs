//! Opens sessions while a load runs.
//!
//! Enters: clients of a worker that need a session. Leaves: opened sessions and refusals, and a
//! byte on the worker's socket for each. Never: blocks the worker: separate threads open the
//! sessions; they end when the worker has ended.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pgassay_session::{Stream, clock};

use crate::config::Assignment;
use crate::record::thread_cpu_ns;
use crate::sessions::open::{Opened, open_session};
use crate::setup::Setup;

/// Sessions that one worker opens at a time; the server forks for each.
const MOST_THREADS: usize = 8;

pub struct SessionOpener {
    requests: Sender<(usize, Assignment)>,
    answers: Receiver<Answer>,
}

pub struct Answer {
    /// The client that requested it.
    pub place: usize,
    pub session: Result<Opened, String>,
    pub took_ns: i64,
    pub cpu_ns: i64,
}

impl SessionOpener {
    /// Starts the threads; the stream wakes the worker.
    pub fn start(setup: &Arc<Setup>, clients: usize) -> io::Result<(SessionOpener, Stream)> {
        let (waker, wake_receiver) = UnixStream::pair()?;
        // Waking must not block if the worker has not read earlier bytes yet.
        waker.set_nonblocking(true)?;
        let waker = Arc::new(waker);
        let (requests, waiting) = channel();
        let (done, answers) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..clients.clamp(1, MOST_THREADS) {
            let opener_thread = OpenerThread {
                setup: Arc::clone(setup),
                waiting: Arc::clone(&waiting),
                done: done.clone(),
                waker: Arc::clone(&waker),
            };
            thread::Builder::new()
                .name("pgassay-open".to_owned())
                .spawn(move || opener_thread.run())?;
        }
        Ok((
            SessionOpener { requests, answers },
            Stream::from(wake_receiver),
        ))
    }

    pub fn request(&self, place: usize, assignment: Assignment) {
        // The threads live as long as this sender does.
        let _ = self.requests.send((place, assignment));
    }

    pub fn answer(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}

struct OpenerThread {
    setup: Arc<Setup>,
    waiting: Arc<Mutex<Receiver<(usize, Assignment)>>>,
    done: Sender<Answer>,
    waker: Arc<UnixStream>,
}

impl OpenerThread {
    fn run(self) {
        while let Some((place, assignment)) = self.next() {
            let (begun_ns, cpu_ns) = (clock::now_ns(), thread_cpu_ns());
            let session = open_session(assignment, &self.setup).map_err(|error| error.to_string());
            let answer = Answer {
                place,
                session,
                took_ns: clock::now_ns() - begun_ns,
                cpu_ns: thread_cpu_ns() - cpu_ns,
            };
            if self.done.send(answer).is_err() {
                return;
            }
            // If the socket is full, the worker will wake up anyway.
            let _ = (&*self.waker).write(&[0]);
        }
    }

    fn next(&self) -> Option<(usize, Assignment)> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.recv().ok()
    }
}
