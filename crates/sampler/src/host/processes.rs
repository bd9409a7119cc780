//! CPU and I/O of the server's processes, by kind of process.
//!
//! Enters: texts of `/proc/PID` of each process, tick by tick. Leaves: sums since sampling began,
//! which never go back when a process ends. Never: counts what a process used before sampling
//! began; what it used after its last reading is lost.

use std::collections::{BTreeMap, HashMap};

use crate::files::Emit;

const MEASURES: [&str; 6] = [
    "user_ticks",
    "system_ticks",
    "run_ns",
    "queue_ns",
    "read_bytes",
    "write_bytes",
];
/// The files of a process that [`Processes::text`] parses, beside `cmdline`.
pub(crate) const PROCESS_FILES: [&str; 3] = ["stat", SCHEDSTAT, "io"];
const USER: usize = 11;
const SYSTEM: usize = 12;
const STARTED: usize = 19;
/// The file that shows whether a process has run.
pub(crate) const SCHEDSTAT: &str = "schedstat";
/// The kind of a process that ended before its title was read.
const UNKNOWN: &str = "other";

type Reading = [Option<u64>; MEASURES.len()];

#[derive(Debug, Default)]
struct Process {
    kind: Option<String>,
    started: u64,
    /// Reading at the last tick; `None` if the process did not exist then.
    last: Option<Reading>,
    now: Reading,
    unbooked: Reading,
    present: bool,
}

/// All processes of one server.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    known: HashMap<i32, Process>,
    sums: BTreeMap<String, Reading>,
    /// After the first tick a new process is known to have started since.
    begun: bool,
}

impl Processes {
    /// Parses one file of a process; malformed texts are skipped. If only `schedstat` is given,
    /// the process has not run since the last tick.
    pub(crate) fn text(&mut self, pid: i32, leaf: &str, text: &str) {
        match leaf {
            "stat" => self.stat(pid, text),
            SCHEDSTAT => {
                if let Some(process) = self.known.get_mut(&pid).filter(|p| !p.present) {
                    process.present = true;
                    process.now = process.last.unwrap_or_default();
                }
                let mut words = text.split_ascii_whitespace().map(|w| w.parse().ok());
                self.set(pid, 2, words.next().flatten());
                self.set(pid, 3, words.next().flatten());
            }
            "io" => {
                for (measure, name) in [(4, "read_bytes:"), (5, "write_bytes:")] {
                    let value = text.lines().find_map(|line| line.strip_prefix(name));
                    self.set(pid, measure, value.and_then(|v| v.trim().parse().ok()));
                }
            }
            "cmdline" => self.name(pid, kind_of(text)),
            "type" => self.name(pid, Some(text.trim().to_owned())),
            _ => {}
        }
    }

    /// The processes whose kind is not known yet.
    pub(crate) fn without_title(&self) -> Vec<i32> {
        let nameless = self.known.iter().filter(|(_, p)| p.kind.is_none());
        nameless.map(|(pid, _)| *pid).collect()
    }

    /// Ends a tick and emits the sums so far.
    pub(crate) fn finish_tick(&mut self, emit: Emit<'_>) {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for process in self.known.values_mut().filter(|process| process.present) {
            let before = process.last.unwrap_or_else(|| {
                if self.begun {
                    process.now.map(|value| value.map(|_| 0))
                } else {
                    process.now
                }
            });
            for ((sum, now), before) in process.unbooked.iter_mut().zip(process.now).zip(before) {
                if let (Some(now), Some(before)) = (now, before) {
                    *sum = Some(sum.unwrap_or(0) + now.saturating_sub(before));
                }
            }
            process.last = Some(process.now);
            if let Some(kind) = &process.kind {
                *counts.entry(kind.clone()).or_default() += 1;
            }
        }
        for process in self.known.values_mut() {
            let kind = match &process.kind {
                Some(kind) => kind,
                None if process.present => continue,
                None => UNKNOWN,
            };
            let sums = self.sums.entry(kind.to_owned()).or_default();
            for (sum, more) in sums.iter_mut().zip(std::mem::take(&mut process.unbooked)) {
                *sum = more.map_or(*sum, |more| Some(sum.unwrap_or(0) + more));
            }
        }
        self.known.retain(|_, process| process.present);
        for process in self.known.values_mut() {
            process.present = false;
            process.now = Reading::default();
        }
        self.begun = true;
        for (kind, sums) in &self.sums {
            emit(
                kind,
                "processes",
                counts.get(kind).copied().unwrap_or(0) as f64,
            );
            for (name, sum) in MEASURES.iter().zip(sums) {
                if let Some(sum) = sum {
                    emit(kind, name, *sum as f64);
                }
            }
        }
    }

    fn stat(&mut self, pid: i32, text: &str) {
        let Some((_, fields)) = text.rsplit_once(')') else {
            return;
        };
        let fields: Vec<_> = fields.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|word| word.parse::<u64>().ok());
        let (Some(user), Some(system), Some(started)) =
            (number(USER), number(SYSTEM), number(STARTED))
        else {
            return;
        };
        let process = self.known.entry(pid).or_default();
        // The kernel may reuse a process id within a second.
        if process.last.is_some() && process.started != started {
            process.last = Some([Some(0); MEASURES.len()]);
            process.kind = None;
        }
        process.started = started;
        process.present = true;
        process.now = [Some(user), Some(system), None, None, None, None];
    }

    fn set(&mut self, pid: i32, measure: usize, value: Option<u64>) {
        if let Some(process) = self.known.get_mut(&pid)
            && let Some(place) = process.now.get_mut(measure)
        {
            *place = value;
        }
    }

    fn name(&mut self, pid: i32, kind: Option<String>) {
        if let (Some(process), Some(kind)) = (self.known.get_mut(&pid), kind) {
            process.kind = Some(kind);
        }
    }
}

/// The kind of a process by its title, named as in `pg_stat_activity.backend_type`.
///
/// `None` for a process that was just forked and still has the postmaster's command line.
fn kind_of(title: &str) -> Option<String> {
    const KINDS: [&str; 16] = [
        "checkpointer",
        "background writer",
        "walwriter",
        "autovacuum launcher",
        "autovacuum worker",
        "logical replication",
        "archiver",
        "logger",
        "startup",
        "walreceiver",
        "walsender",
        "walsummarizer",
        "slotsync worker",
        "io worker",
        "parallel worker",
        "stats collector",
    ];
    let title = title
        .trim_end_matches('\0')
        .trim()
        .strip_prefix("postgres: ")?;
    // A role may be named like a server process: a title with a client address is a session.
    let from_client = title
        .split(' ')
        .any(|word| word == "[local]" || has_port(word));
    // cluster_name precedes the rest of the title if it is set.
    let inner = title.split_once(": ").map(|(_, rest)| rest);
    for text in [Some(title), inner].into_iter().flatten() {
        let kind = KINDS.iter().find(|kind| text.starts_with(**kind));
        if let Some(kind) = kind.filter(|kind| !from_client || **kind == "walsender") {
            return Some((*kind).to_owned());
        }
    }
    Some(
        if from_client {
            "client backend"
        } else {
            "background worker"
        }
        .to_owned(),
    )
}

/// Whether it is `ADDRESS(PORT)`.
fn has_port(word: &str) -> bool {
    word.strip_suffix(')')
        .and_then(|text| text.split_once('('))
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stat(user: u64, started: u64) -> String {
        format!("7 (postgres: a (b)) S 1 7 7 0 -1 0 0 0 0 0 {user} 2 0 0 20 0 1 0 {started} 0 0")
    }

    fn finished_tick(processes: &mut Processes) -> BTreeMap<(String, String), f64> {
        let mut found = BTreeMap::new();
        processes.finish_tick(&mut |kind, name, value| {
            found.insert((kind.to_owned(), name.to_owned()), value);
        });
        found
    }

    fn user(found: &BTreeMap<(String, String), f64>, kind: &str) -> f64 {
        found[&(kind.to_owned(), "user_ticks".to_owned())]
    }

    #[test]
    fn sums_begin_at_nothing_and_outlive_their_processes() {
        let mut processes = Processes::default();
        processes.text(7, "stat", &stat(100, 5));
        processes.text(7, "schedstat", "1000 50 3\n");
        assert_eq!(processes.without_title(), [7]);
        processes.text(7, "cmdline", "postgres: walwriter \0\0\0");
        assert_eq!(user(&finished_tick(&mut processes), "walwriter"), 0.0);

        processes.text(7, "stat", &stat(130, 5));
        processes.text(7, "schedstat", "4000 80 3\n");
        processes.text(8, "stat", &stat(9, 900));
        let found = finished_tick(&mut processes);
        assert_eq!(user(&found, "walwriter"), 30.0);
        assert_eq!(
            found[&("walwriter".to_owned(), "run_ns".to_owned())],
            3000.0
        );
        assert_eq!(
            found[&("walwriter".to_owned(), "queue_ns".to_owned())],
            30.0
        );
        assert!(!found.keys().any(|(_, name)| name == "read_bytes"));

        let found = finished_tick(&mut processes);
        assert_eq!(user(&found, "walwriter"), 30.0);
        assert_eq!(user(&found, UNKNOWN), 9.0);
        assert_eq!(
            found[&("walwriter".to_owned(), "processes".to_owned())],
            0.0
        );
    }

    #[test]
    fn a_process_that_has_not_run_keeps_its_sums() {
        let mut processes = Processes::default();
        for used in [100, 130] {
            processes.text(7, "stat", &stat(used, 5));
            processes.text(7, SCHEDSTAT, &format!("{used} 50 3\n"));
            processes.text(7, "io", "read_bytes: 512\n");
            processes.text(7, "cmdline", "postgres: walwriter ");
            finished_tick(&mut processes);
        }
        for _ in 0..2 {
            processes.text(7, SCHEDSTAT, "130 50 3\n");
            let found = finished_tick(&mut processes);
            assert_eq!(user(&found, "walwriter"), 30.0);
            for (name, value) in [("run_ns", 30.0), ("read_bytes", 0.0), ("processes", 1.0)] {
                assert_eq!(found[&("walwriter".to_owned(), name.to_owned())], value);
            }
        }
        processes.text(7, "stat", &stat(140, 5));
        assert_eq!(user(&finished_tick(&mut processes), "walwriter"), 40.0);
    }

    #[test]
    fn a_number_that_comes_back_is_another_process() {
        let mut processes = Processes::default();
        processes.text(7, "stat", &stat(100, 5));
        processes.text(7, "cmdline", "postgres: io worker 0");
        finished_tick(&mut processes);
        processes.text(7, "stat", &stat(4, 77));
        processes.text(7, "cmdline", "postgres: u d [local] idle");
        let found = finished_tick(&mut processes);
        assert_eq!(user(&found, "client backend"), 4.0);
    }

    #[test]
    fn titles_tell_the_kind() {
        for (title, kind) in [
            ("postgres: checkpointer ", Some("checkpointer")),
            (
                "postgres: 15/main: autovacuum worker db",
                Some("autovacuum worker"),
            ),
            (
                "postgres: parallel worker for PID 12 ",
                Some("parallel worker"),
            ),
            (
                "postgres: u db 127.0.0.1(40) SELECT",
                Some("client backend"),
            ),
            (
                "postgres: 15/main: u db [local] idle",
                Some("client backend"),
            ),
            (
                "postgres: archiver db 127.0.0.1(40) SELECT",
                Some("client backend"),
            ),
            (
                "postgres: 15/main: logger_app db [local] idle",
                Some("client backend"),
            ),
            (
                "postgres: walsender replicator [local] streaming 0/3000148",
                Some("walsender"),
            ),
            (
                "postgres: archiver last was 000000010000000000000001",
                Some("archiver"),
            ),
            ("postgres: pg_cron launcher ", Some("background worker")),
            ("/usr/lib/postgresql/15/bin/postgres\0-D\0/x", None),
        ] {
            assert_eq!(kind_of(title).as_deref(), kind, "{title}");
        }
    }

    proptest! {
        #[test]
        fn sums_never_go_back(
            ticks in prop::collection::vec(
                prop::collection::vec((1_i32..5, 0_u64..100, 0_u64..3), 0..5), 1..20)
        ) {
            let mut processes = Processes::default();
            let mut before: BTreeMap<(String, String), f64> = BTreeMap::new();
            for tick in ticks {
                for (pid, used, started) in tick {
                    processes.text(pid, "stat", &stat(used, started));
                    processes.text(pid, "cmdline", "postgres: startup");
                }
                let mut after = finished_tick(&mut processes);
                after.retain(|(_, name), _| name != "processes");
                for (key, value) in &before {
                    prop_assert!(after[key] >= *value);
                }
                before = after;
            }
        }
    }
}
