//! Opens sessions while a load runs.
//!
//! Enters: places in a worker that want a session. Leaves: opened sessions and refusals, and a
//! byte on the worker's socket for each. Never: keeps the worker waiting: opening blocks, so it
//! is done by threads of its own, which end when the worker has gone.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pgassay_session::{Stream, clock};

use crate::config::Seat;
use crate::connect::{Opened, open_session};
use crate::record::thread_cpu_ns;
use crate::setup::Setup;

/// Sessions that one worker has under way at a time; the server forks for each.
const MOST_THREADS: usize = 8;

pub struct Opener {
    requests: Sender<(usize, Seat)>,
    answers: Receiver<Answer>,
}

pub struct Answer {
    /// The place that asked.
    pub place: usize,
    pub session: Result<Opened, String>,
    pub took_ns: i64,
    pub cpu_ns: i64,
}

impl Opener {
    /// Begins the threads; the stream wakes the worker.
    pub fn start(setup: &Arc<Setup>, clients: usize) -> io::Result<(Opener, Stream)> {
        let (bell, ear) = UnixStream::pair()?;
        // A bell that nobody hears yet must not hold up whoever rings it.
        bell.set_nonblocking(true)?;
        let bell = Arc::new(bell);
        let (requests, waiting) = channel();
        let (done, answers) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..clients.clamp(1, MOST_THREADS) {
            let helper = Helper {
                setup: Arc::clone(setup),
                waiting: Arc::clone(&waiting),
                done: done.clone(),
                bell: Arc::clone(&bell),
            };
            thread::Builder::new()
                .name("pgassay-open".to_owned())
                .spawn(move || helper.run())?;
        }
        Ok((Opener { requests, answers }, Stream::from(ear)))
    }

    pub fn request(&self, place: usize, seat: Seat) {
        // Helpers live as long as this sender does.
        let _ = self.requests.send((place, seat));
    }

    pub fn answer(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}

struct Helper {
    setup: Arc<Setup>,
    waiting: Arc<Mutex<Receiver<(usize, Seat)>>>,
    done: Sender<Answer>,
    bell: Arc<UnixStream>,
}

impl Helper {
    fn run(self) {
        while let Some((place, seat)) = self.next() {
            let (begun_ns, cpu_ns) = (clock::now_ns(), thread_cpu_ns());
            let session = open_session(seat, &self.setup).map_err(|error| error.to_string());
            let answer = Answer {
                place,
                session,
                took_ns: clock::now_ns() - begun_ns,
                cpu_ns: thread_cpu_ns() - cpu_ns,
            };
            if self.done.send(answer).is_err() {
                return;
            }
            // If it is full the worker is called already.
            let _ = (&*self.bell).write(&[0]);
        }
    }

    fn next(&self) -> Option<(usize, Seat)> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.recv().ok()
    }
}
