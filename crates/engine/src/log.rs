//! Files of transactions in the format of pgbench -l.
//!
//! Enters: ends of transactions of one worker. Leaves: a line for each, or for a sample, or sums
//! of each stretch of time. Never: fails in the middle of a transaction: a file that cannot be
//! written is a problem that the worker asks for.
//!
//! As pgbench does, each thread writes a file of its own (`prefix.PID`, `prefix.PID.1`, …), the
//! time of a transaction is that from its intended start in an open loop, and times are in µs.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::config::{self, Configuration};
use crate::random::{Purpose, Random};
use crate::record::Attempt;

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
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

/// Sums of the stretch under way.
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
    /// None if no log is asked for.
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

    /// A transaction ended, or was skipped; `number` counts those of its client.
    pub fn write(
        &mut self,
        now_ns: i64,
        client: usize,
        number: u64,
        attempt: &Attempt,
        fate: Fate,
    ) {
        let result = match &mut self.sums {
            Some(sums) => {
                let result = sums.advance(now_ns, &mut self.file);
                sums.add(now_ns, attempt, fate);
                result
            }
            None => self.write_line(now_ns, client, number, attempt, fate),
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
        fate: Fate,
    ) -> io::Result<()> {
        let form = self.form;
        if form.sampling_rate < 1.0 && self.random.unit() >= form.sampling_rate {
            return Ok(());
        }
        write!(self.file, "{client} {number} ")?;
        match fate {
            Fate::Succeeded => {
                let latency_us = (now_ns - attempt.expected_ns()) / 1000;
                write!(self.file, "{latency_us}")?;
            }
            Fate::Skipped => self.file.write_all(b"skipped")?,
            Fate::Serialization if form.failures_detailed => {
                self.file.write_all(b"serialization")?;
            }
            Fate::Deadlock if form.failures_detailed => self.file.write_all(b"deadlock")?,
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

    /// What went wrong so far, if anything did.
    pub fn problem(&mut self) -> Option<io::Error> {
        self.problem.take()
    }

    /// Writes what is left, up to `now_ns`.
    pub fn finish(mut self, now_ns: i64) -> io::Result<()> {
        if let Some(sums) = &mut self.sums {
            sums.advance(now_ns, &mut self.file)?;
        }
        self.file.flush()?;
        self.problem.map_or(Ok(()), Err)
    }
}

impl Sums {
    /// Writes the stretches that are over.
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

    fn add(&mut self, now_ns: i64, attempt: &Attempt, fate: Fate) {
        match fate {
            Fate::Succeeded => {
                self.count += 1;
                self.latency.add(now_ns - attempt.expected_ns());
                if attempt.due_ns.is_some() {
                    self.lag.add(attempt.began_ns - attempt.expected_ns());
                }
            }
            Fate::Skipped => self.skipped += 1,
            Fate::Serialization => self.serialization += 1,
            Fate::Deadlock => self.deadlock += 1,
            Fate::Failed => {}
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
mod tests {
    use super::*;
    use serde_json::json;

    const S: i64 = 1_000_000_000;

    fn log(changes: serde_json::Value, rate: Option<f64>) -> Log<Vec<u8>> {
        let mut json = config::tests::example();
        json["log"] = json!({"prefix": "x"});
        for (key, value) in changes.as_object().unwrap() {
            json["log"][key] = value.clone();
        }
        json["max_tries"] = json!(if rate.is_some() { 3 } else { 1 });
        json["steps"][1]["rate"] = json!(rate);
        let configuration = Configuration::parse(&json.to_string()).unwrap();
        let settings = configuration.log.clone().unwrap();
        Log::new(Vec::new(), &configuration, &settings, 0, 100 * S)
    }

    fn attempt(due_ns: Option<i64>, began_ns: i64, tries: u32) -> Attempt {
        Attempt {
            scenario: 1,
            due_ns,
            began_ns,
            slice: None,
            tries,
        }
    }

    #[test]
    fn a_line_is_pgbench_s() {
        let mut plain = log(json!({}), None);
        plain.write(
            100 * S + 2_500_000,
            3,
            7,
            &attempt(None, 100 * S, 1),
            Fate::Succeeded,
        );
        plain.write(101 * S, 3, 8, &attempt(None, 100 * S, 1), Fate::Failed);
        assert_eq!(plain.file, b"3 7 2500 1 100 2500\n3 8 failed 1 101 0\n");
        let mut open = log(json!({"failures_detailed": true}), Some(10.0));
        open.write(
            102 * S,
            0,
            1,
            &attempt(Some(100 * S), 101 * S, 3),
            Fate::Succeeded,
        );
        open.write(
            102 * S,
            0,
            2,
            &attempt(Some(100 * S), 100 * S, 1),
            Fate::Skipped,
        );
        open.write(
            102 * S,
            0,
            3,
            &attempt(Some(100 * S), 101 * S, 3),
            Fate::Deadlock,
        );
        let lines = "0 1 2000000 1 102 0 1000000 2\n0 2 skipped 1 102 0 0 0\n0 3 deadlock 1 102 0 1000000 2\n";
        assert_eq!(String::from_utf8(open.file).unwrap(), lines);
    }

    #[test]
    fn sums_are_written_for_every_stretch_also_an_empty_one() {
        let mut log = log(json!({"aggregate_interval_s": 2}), Some(10.0));
        log.write(
            100 * S + 3_000_000,
            0,
            1,
            &attempt(Some(100 * S), 100 * S + 1_000_000, 1),
            Fate::Succeeded,
        );
        log.write(
            101 * S + 4_000_000,
            0,
            2,
            &attempt(Some(101 * S), 101 * S, 2),
            Fate::Succeeded,
        );
        log.write(
            105 * S,
            0,
            3,
            &attempt(Some(105 * S), 105 * S, 1),
            Fate::Skipped,
        );
        let lines = "100 2 7000 25000000 3000 4000 1000 1000000 0 1000 0 1 1 0 0\n\
            102 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
        assert_eq!(String::from_utf8(log.file.clone()).unwrap(), lines);
        assert!(log.finish(106 * S).is_ok());
    }

    #[test]
    fn a_sample_has_about_its_share() {
        let mut log = log(json!({"sampling_rate": 0.25}), None);
        for number in 0..10_000 {
            log.write(
                100 * S,
                0,
                number,
                &attempt(None, 100 * S, 1),
                Fate::Succeeded,
            );
        }
        let lines = log.file.iter().filter(|&&byte| byte == b'\n').count();
        assert!((2_300..2_700).contains(&lines), "{lines}");
    }
}
