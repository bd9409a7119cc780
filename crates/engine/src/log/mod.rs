//! Files of transactions in the format of pgbench -l.
//!
//! Enters: ends of transactions of one worker. Leaves: a line for each transaction or a sample of
//! them, or sums per interval of time. Never: fails in the middle of a transaction: the worker
//! asks later for an error of writing.
//!
//! As in pgbench, each thread writes its own file (`prefix.PID`, `prefix.PID.1`, …), the time of
//! a transaction in an open loop counts from its intended start, and times are in µs.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::config::{self, Configuration};
use crate::random::{Purpose, Random};
use crate::record::Attempt;

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionEnd {
    Succeeded,
    Skipped,
    Serialization,
    Deadlock,
    Failed,
}

pub struct Log<W: Write = BufWriter<File>> {
    file: W,
    form: Form,
    sums: Option<Sums>,
    random: Random,
    problem: Option<io::Error>,
}

#[derive(Debug, Clone, Copy)]
struct Form {
    sampling_rate: f64,
    failures_detailed: bool,
    has_lag: bool,
    has_tries: bool,
}

/// Sums of the current interval.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    length_s: i64,
    start_s: i64,
    count: u64,
    latency: Moments,
    lag: Moments,
    skipped: u64,
    retried: u64,
    retries: u64,
    serialization: u64,
    deadlock: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: u64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Log {
    /// Opens the log; None if the configuration has none.
    pub fn open(
        configuration: &Configuration,
        worker: usize,
        start_ns: i64,
    ) -> io::Result<Option<Log>> {
        let Some(log) = &configuration.log else {
            return Ok(None);
        };
        let mut path = format!("{}.{}", log.prefix, std::process::id());
        if worker > 0 {
            path = format!("{path}.{worker}");
        }
        let file = File::create(&path)
            .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(Some(Log::new(file, configuration, log, worker, start_ns)))
    }
}

impl<W: Write> Log<W> {
    fn new(
        file: W,
        configuration: &Configuration,
        log: &config::Log,
        worker: usize,
        start_ns: i64,
    ) -> Log<W> {
        Log {
            file,
            form: Form {
                sampling_rate: log.sampling_rate,
                failures_detailed: log.failures_detailed,
                has_lag: configuration.steps.iter().any(|step| step.rate.is_some()),
                has_tries: configuration.max_tries != 1,
            },
            sums: log.aggregate_interval_s.map(|seconds| Sums {
                length_s: i64::from(seconds),
                start_s: start_ns.div_euclid(1_000_000_000),
                ..Sums::default()
            }),
            random: Random::new(configuration.seed, worker, Purpose::Sample),
            problem: None,
        }
    }

    /// Writes the end of a transaction; `number` counts the transactions of its client.
    pub fn write(
        &mut self,
        now_ns: i64,
        client: usize,
        number: u64,
        attempt: &Attempt,
        end: TransactionEnd,
    ) {
        let result = match &mut self.sums {
            Some(sums) => {
                let result = sums.advance(now_ns, &mut self.file);
                sums.add(now_ns, attempt, end);
                result
            }
            None => self.write_line(now_ns, client, number, attempt, end),
        };
        if let Err(error) = result {
            self.problem.get_or_insert(error);
        }
    }

    fn write_line(
        &mut self,
        now_ns: i64,
        client: usize,
        number: u64,
        attempt: &Attempt,
        end: TransactionEnd,
    ) -> io::Result<()> {
        let form = self.form;
        if form.sampling_rate < 1.0 && self.random.unit() >= form.sampling_rate {
            return Ok(());
        }
        write!(self.file, "{client} {number} ")?;
        match end {
            TransactionEnd::Succeeded => {
                let latency_us = (now_ns - attempt.expected_ns()) / 1000;
                write!(self.file, "{latency_us}")?;
            }
            TransactionEnd::Skipped => self.file.write_all(b"skipped")?,
            TransactionEnd::Serialization if form.failures_detailed => {
                self.file.write_all(b"serialization")?;
            }
            TransactionEnd::Deadlock if form.failures_detailed => {
                self.file.write_all(b"deadlock")?
            }
            _ => self.file.write_all(b"failed")?,
        }
        let (seconds, rest_ns) = (
            now_ns.div_euclid(1_000_000_000),
            now_ns.rem_euclid(1_000_000_000),
        );
        write!(
            self.file,
            " {} {seconds} {}",
            attempt.scenario,
            rest_ns / 1000
        )?;
        if form.has_lag {
            let lag_us = (attempt.began_ns - attempt.expected_ns()).max(0) / 1000;
            write!(self.file, " {lag_us}")?;
        }
        if form.has_tries {
            write!(self.file, " {}", attempt.tries.saturating_sub(1))?;
        }
        self.file.write_all(b"\n")
    }

    /// The first error of writing, if there was one.
    pub fn problem(&mut self) -> Option<io::Error> {
        self.problem.take()
    }

    /// Writes all remaining data, up to `now_ns`.
    pub fn finish(mut self, now_ns: i64) -> io::Result<()> {
        if let Some(sums) = &mut self.sums {
            sums.advance(now_ns, &mut self.file)?;
        }
        self.file.flush()?;
        self.problem.map_or(Ok(()), Err)
    }
}

impl Sums {
    /// Writes the intervals that have ended.
    fn advance(&mut self, now_ns: i64, file: &mut impl Write) -> io::Result<()> {
        let now_s = now_ns.div_euclid(1_000_000_000);
        while self.start_s + self.length_s <= now_s {
            self.write(file)?;
            *self = Sums {
                length_s: self.length_s,
                start_s: self.start_s + self.length_s,
                ..Sums::default()
            };
        }
        Ok(())
    }

    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        let (latency, lag) = (self.latency, self.lag);
        writeln!(
            file,
            "{} {} {latency} {lag} {} {} {} {} {}",
            self.start_s,
            self.count,
            self.skipped,
            self.retried,
            self.retries,
            self.serialization,
            self.deadlock,
        )
    }

    fn add(&mut self, now_ns: i64, attempt: &Attempt, end: TransactionEnd) {
        match end {
            TransactionEnd::Succeeded => {
                self.count += 1;
                self.latency.add(now_ns - attempt.expected_ns());
                if attempt.due_ns.is_some() {
                    self.lag.add(attempt.began_ns - attempt.expected_ns());
                }
            }
            TransactionEnd::Skipped => self.skipped += 1,
            TransactionEnd::Serialization => self.serialization += 1,
            TransactionEnd::Deadlock => self.deadlock += 1,
            TransactionEnd::Failed => {}
        }
        if attempt.tries > 1 {
            self.retried += 1;
            self.retries += u64::from(attempt.tries) - 1;
        }
    }
}

impl Moments {
    fn add(&mut self, duration_ns: i64) {
        let us = (duration_ns / 1000) as f64;
        self.min = if self.count == 0 {
            us
        } else {
            self.min.min(us)
        };
        self.max = self.max.max(us);
        self.count += 1;
        self.sum += us;
        self.squares += us * us;
    }
}

impl std::fmt::Display for Moments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {} {}", self.sum, self.squares, self.min, self.max)
    }
}

#[cfg(test)]
mod tests;
