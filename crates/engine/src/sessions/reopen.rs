//! Opens sessions while a load runs.
//!
//! Enters: how a session is opened, clients of a worker that need one. Leaves: opened sessions and refusals, and a
//! byte on the worker's socket for each. Never: blocks the worker: separate threads open the
//! sessions; they end when the worker has ended.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pgassay_session::{Stream, clock};

use crate::error::EngineError;
use crate::record::thread_cpu_ns;
use crate::sessions::open::Opened;

/// Sessions that one worker opens at a time; the server forks for each.
const MOST_THREADS: usize = 8;

/// Opens one session for what was requested.
pub type Open<T> = Arc<dyn Fn(T) -> Result<Opened, EngineError> + Send + Sync>;

pub struct SessionOpener<T> {
    requests: Sender<(usize, T)>,
    answers: Receiver<Answer>,
}

pub struct Answer {
    /// The client that requested it.
    pub place: usize,
    pub session: Result<Opened, String>,
    pub took_ns: i64,
    pub cpu_ns: i64,
}

impl<T: Send + 'static> SessionOpener<T> {
    /// Starts the threads; the stream wakes the worker.
    pub fn start(open: &Open<T>, clients: usize) -> io::Result<(SessionOpener<T>, Stream)> {
        let (waker, wake_receiver) = UnixStream::pair()?;
        // Waking must not block if the worker has not read earlier bytes yet.
        waker.set_nonblocking(true)?;
        let waker = Arc::new(waker);
        let (requests, waiting) = channel();
        let (done, answers) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..clients.clamp(1, MOST_THREADS) {
            let opener_thread = OpenerThread {
                open: Arc::clone(open),
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

    pub fn request(&self, place: usize, wanted: T) {
        // The threads live as long as this sender does.
        let _ = self.requests.send((place, wanted));
    }

    pub fn answer(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}

struct OpenerThread<T> {
    open: Open<T>,
    waiting: Arc<Mutex<Receiver<(usize, T)>>>,
    done: Sender<Answer>,
    waker: Arc<UnixStream>,
}

impl<T> OpenerThread<T> {
    fn run(self) {
        while let Some((place, wanted)) = self.next() {
            let (begun_ns, cpu_ns) = (clock::now_ns(), thread_cpu_ns());
            let session = (self.open)(wanted).map_err(|error| error.to_string());
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

    fn next(&self) -> Option<(usize, T)> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.recv().ok()
    }
}
