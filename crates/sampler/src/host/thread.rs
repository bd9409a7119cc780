//! The host thread: reads the kernel's counters on the server's host.
//!
//! Enters: texts of files from a [`Feed`]. Leaves: [`Values`] under the source that each file's
//! configuration names, and under `processes`. Never: knows how a feed gets its texts.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::configuration::{HostFile, HostFiles};
use crate::cost::CpuMeter;
use crate::host::feed::pipe::Pipe;
use crate::host::feed::sql::Sql;
use crate::host::feed::{Feed, Local};
use crate::host::processes::Processes;
use crate::samples::columns::Values;
use crate::samples::names::Names;
use crate::schedule::{Schedule, rest_after};
use crate::server::link::Link;
use crate::shared::Shared;

pub(crate) fn run(link: &Link, first: HostFiles, shared: &Shared) {
    let mut processes = Processes::default();
    let mut next = Some(first);
    while let Some(files) = next {
        // Only a feed that queries the server may have to pause for it.
        let (mut feed, share): (Box<dyn Feed + '_>, _) = if let Some(words) = &files.reader {
            (Box::new(Pipe::new(words.clone())), None)
        } else if let Some(query) = &files.sql {
            (Box::new(Sql::new(link.clone(), query)), shared.busy_share)
        } else {
            let local = Local::open(&files.files, files.postmaster, shared);
            (Box::new(local), None)
        };
        next = sample(feed.as_mut(), &files, &mut processes, shared, share);
    }
}

/// Reads until it is stopped, the feed ends, or other files are requested, which are returned.
fn sample(
    feed: &mut dyn Feed,
    files: &HostFiles,
    processes: &mut Processes,
    shared: &Shared,
    busy_share: Option<f64>,
) -> Option<HostFiles> {
    let mut meter = CpuMeter::new(&shared.costs);
    let mut schedule = Schedule::new(Instant::now(), files.every, 0.0, 0);
    let mut reader = Reader::new(files, processes, shared);
    while !shared.stop.wait_until(schedule.due()) {
        let named = shared.take_files();
        if named.is_some() {
            return named;
        }
        let began = Instant::now();
        let late = schedule.is_late(began);
        let without_title = reader.processes.without_title();
        let useful = feed.read(&without_title, shared, &mut |path, text, time_ns| {
            reader.read_text(path, text, time_ns);
        });
        reader.end_tick();
        shared.costs.host_reads.fetch_add(1, Ordering::Relaxed);
        let ended = Instant::now();
        let rest = rest_after(ended - began, busy_share);
        let skipped = schedule.advance_after_rest(ended, ended + rest);
        shared.costs.count_ticks(late, skipped);
        meter.count_cpu();
        if !useful {
            return None;
        }
    }
    None
}

/// Turns texts into values.
struct Reader<'a> {
    shared: &'a Shared,
    files: HashMap<&'a str, &'a HostFile>,
    devices: Option<&'a [String]>,
    processes: &'a mut Processes,
    /// When the latest process was read in this tick; `None` if none was.
    processes_ns: Option<i64>,
    /// Values of this tick.
    names: Names,
    values: Values,
}

impl<'a> Reader<'a> {
    fn new(files: &'a HostFiles, processes: &'a mut Processes, shared: &'a Shared) -> Reader<'a> {
        let wanted = files.files.iter();
        Reader {
            shared,
            files: wanted.map(|file| (file.path.as_str(), file)).collect(),
            devices: files.devices.as_deref(),
            processes,
            processes_ns: None,
            names: Names::default(),
            values: Values::default(),
        }
    }

    fn read_text(&mut self, path: &str, text: &str, time_ns: i64) {
        if let Some(file) = self.files.get(path) {
            let (names, values, devices) = (&self.names, &mut self.values, self.devices);
            let source = names.intern(&file.source);
            file.format.parse(text, &mut |object, name, value| {
                let is_disk = file.format.has_devices();
                if is_disk && !devices.is_none_or(|known| known.iter().any(|d| d == object)) {
                    return;
                }
                let object = if object.is_empty() {
                    &file.object
                } else {
                    object
                };
                values.push(
                    time_ns,
                    source,
                    names.intern(object),
                    names.intern(name),
                    value,
                );
            });
        } else if let Some((pid, leaf)) = process_file(path) {
            self.processes_ns = Some(time_ns);
            self.processes.text(pid, leaf, text);
        }
    }

    fn end_tick(&mut self) {
        if let Some(time_ns) = self.processes_ns.take() {
            let (names, values) = (&self.names, &mut self.values);
            let source = names.intern("processes");
            self.processes.finish_tick(&mut |kind, name, value| {
                let (kind, name) = (names.intern(kind), names.intern(name));
                values.push(time_ns, source, kind, name, value);
            });
        }
        self.shared.recent.note_values(&self.values, &self.names);
        self.shared.host().append(&mut self.values, &self.names);
        self.names.take();
    }
}

/// `/proc/PID/LEAF` as its two parts.
fn process_file(path: &str) -> Option<(i32, &str)> {
    let (pid, leaf) = path.strip_prefix("/proc/")?.split_once('/')?;
    Some((pid.parse().ok()?, leaf))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Configuration, NameId};

    struct Scripted(Vec<Vec<(&'static str, &'static str)>>);

    impl Feed for Scripted {
        fn read(&mut self, _: &[i32], _: &Shared, sink: crate::host::feed::Sink<'_>) -> bool {
            for (path, text) in self.0.remove(0) {
                sink(path, text, 1);
            }
            !self.0.is_empty()
        }
    }

    #[test]
    fn only_devices_that_matter_are_kept_and_processes_are_summed() {
        let text = r#"{"connection": {"host": "/tmp", "port": 1, "user": "u", "dbname": "d"},
            "host": {"every_s": 0.001, "devices": ["sda"], "files":
                [{"path": "/proc/diskstats", "source": "disks", "format": "diskstats"},
                 {"path": "/x/cpu.stat", "source": "cgroup", "object": "cpu", "format": "pairs"}]}}"#;
        let files = Configuration::from_json(text).unwrap().host.unwrap();
        let shared = Shared::default();
        let tick = vec![
            ("/proc/diskstats", " 8 0 sda 1 2 3\n 8 1 sdb 4 5 6\n"),
            ("/x/cpu.stat", "nr_throttled 2\n"),
            (
                "/proc/7/stat",
                "7 (p) S 1 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 5 0 0",
            ),
            ("/proc/7/type", "walwriter"),
            ("/unasked", "1"),
        ];
        sample(
            &mut Scripted(vec![tick.clone(), tick]),
            &files,
            &mut Processes::default(),
            &shared,
            None,
        );
        let values = shared.host().take();
        // The feed's times, also of what is put together from several texts.
        assert!(values.time_ns.iter().all(|time_ns| *time_ns == 1));
        let text = |id: &NameId| values.names[id.index()].to_string();
        let objects: std::collections::BTreeSet<_> = values.object.iter().map(text).collect();
        assert_eq!(
            objects.iter().collect::<Vec<_>>(),
            ["cpu", "sda", "walwriter"]
        );
    }

    struct Slow(u32);

    impl Feed for Slow {
        fn read(&mut self, _: &[i32], _: &Shared, _: crate::host::feed::Sink<'_>) -> bool {
            std::thread::sleep(std::time::Duration::from_millis(5));
            self.0 -= 1;
            self.0 > 0
        }
    }

    #[test]
    fn a_server_that_is_slow_to_read_its_files_is_given_rest() {
        let text = r#"{"connection": {"host": "/tmp", "port": 1, "user": "u", "dbname": "d"},
            "host": {"every_s": 0.001, "files": []}}"#;
        let files = Configuration::from_json(text).unwrap().host.unwrap();
        let shared = Shared::default();
        let mut processes = Processes::default();
        sample(&mut Slow(2), &files, &mut processes, &shared, None);
        assert_eq!(shared.costs.rested_ticks.load(Ordering::Relaxed), 0);
        sample(&mut Slow(2), &files, &mut processes, &shared, Some(0.1));
        // Two readings of 5 ms at least, each followed by nine times as long.
        assert!(shared.costs.rested_ticks.load(Ordering::Relaxed) >= 80);
    }

    #[test]
    fn other_files_are_read_from_the_next_reading_on() {
        let text = |name: &str| {
            format!(
                r#"{{"every_s": 0.001, "files":
                    [{{"path": "/x/{name}", "source": "{name}", "format": "number"}}]}}"#
            )
        };
        let files = HostFiles::from_json(&text("first")).unwrap();
        let shared = Shared::default();
        shared.read_files(HostFiles::from_json(&text("second")).unwrap());
        let mut processes = Processes::default();
        let next = sample(&mut Slow(9), &files, &mut processes, &shared, None).unwrap();
        assert_eq!(next.files[0].source, "second");
        assert!(sample(&mut Slow(2), &next, &mut processes, &shared, None).is_none());
        assert!(HostFiles::from_json("{}").is_err());
    }

    #[test]
    fn a_file_of_a_process_is_told_from_others() {
        assert_eq!(process_file("/proc/12/stat"), Some((12, "stat")));
        assert_eq!(process_file("/proc/pressure/cpu"), None);
        assert_eq!(process_file("/sys/x"), None);
    }
}
