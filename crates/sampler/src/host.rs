//! The host thread: the kernel's counters of this machine.
//!
//! Enters: files under `/proc`, kept open and read from their beginning each time. Leaves:
//! [`Values`] under the sources stat, meminfo, vmstat, diskstats, loadavg and pressure. Never:
//! allocates for a reading beyond its rows.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use pgassay_session::clock;

use crate::columns::Values;
use crate::configuration::HostFiles;
use crate::cost::CpuMeter;
use crate::names::NameId;
use crate::proc::{self, Emit};
use crate::schedule::Schedule;
use crate::shared::Shared;

type Parser = fn(&str, Emit<'_>);

/// Path, source, object for parsers that give none, parser.
const FILES: [(&str, &str, &str, Parser); 8] = [
    ("stat", "stat", "", proc::stat),
    ("meminfo", "meminfo", "", proc::meminfo),
    ("vmstat", "vmstat", "", proc::vmstat),
    ("diskstats", "diskstats", "", proc::diskstats),
    ("loadavg", "loadavg", "", proc::loadavg),
    ("pressure/cpu", "pressure", "cpu", proc::pressure),
    ("pressure/io", "pressure", "io", proc::pressure),
    ("pressure/memory", "pressure", "memory", proc::pressure),
];

const FIRST_BUFFER_BYTES: usize = 16 * 1024;
/// Past any real file here; an endless one must not eat the memory.
const LARGEST_FILE_BYTES: usize = 16 * 1024 * 1024;

struct Source {
    path: &'static str,
    name: NameId,
    object: &'static str,
    file: File,
    parser: Parser,
}

pub(crate) fn run(files: &HostFiles, shared: &Shared) {
    let mut meter = CpuMeter::new(&shared.costs);
    let mut schedule = Schedule::new(Instant::now(), files.every, 0.0, 0);
    let mut sources = open(&files.proc, shared);
    let mut buffer = vec![0; FIRST_BUFFER_BYTES];
    let mut values = Values::default();
    while !sources.is_empty() && !shared.stop.wait_until(schedule.due()) {
        let late = u64::from(schedule.is_late(Instant::now()));
        sources.retain(|source| match read(&source.file, &mut buffer) {
            Ok(text) => {
                let time_ns = clock::now_ns();
                (source.parser)(text, &mut |object, name, value| {
                    let object = if object.is_empty() {
                        source.object
                    } else {
                        object
                    };
                    let object = shared.names.intern(object);
                    let name = shared.names.intern(name);
                    values.push(time_ns, source.name, object, name, value);
                });
                true
            }
            Err(error) => {
                warn(shared, &files.proc, source.path, &error);
                false
            }
        });
        shared.recent.note_values(&values);
        shared.host().append(&mut values);
        shared.costs.host_reads.fetch_add(1, Ordering::Relaxed);
        let late = late + schedule.advance(Instant::now());
        shared.costs.late_ticks.fetch_add(late, Ordering::Relaxed);
        meter.book();
    }
}

fn open(root: &Path, shared: &Shared) -> Vec<Source> {
    FILES
        .into_iter()
        .filter_map(
            |(path, name, object, parser)| match File::open(root.join(path)) {
                Ok(file) => Some(Source {
                    path,
                    name: shared.names.intern(name),
                    object,
                    file,
                    parser,
                }),
                Err(error) => {
                    warn(shared, root, path, &error);
                    None
                }
            },
        )
        .collect()
}

/// The whole file from its start; the buffer grows to fit and stays grown.
fn read<'a>(file: &File, buffer: &'a mut Vec<u8>) -> io::Result<&'a str> {
    let mut length = 0;
    loop {
        if length == buffer.len() {
            if length >= LARGEST_FILE_BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            buffer.resize(length * 2, 0);
        }
        let free = buffer.get_mut(length..).unwrap_or_default();
        match file.read_at(free, length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let bytes = buffer.get(..length).unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn warn(shared: &Shared, root: &Path, path: &str, error: &io::Error) {
    shared.warnings.add(path, || {
        format!("{} could not be read: {error}", root.join(path).display())
    });
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_longer_than_the_buffer_is_read_whole_and_again() {
        let path = std::env::temp_dir().join(format!("pgassay-host-{}", std::process::id()));
        let text = "ctxt 12345\n".repeat(5000);
        File::create(&path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let file = File::open(&path).unwrap();
        let mut buffer = vec![0; 16];
        assert_eq!(read(&file, &mut buffer).unwrap(), text);
        assert_eq!(read(&file, &mut buffer).unwrap(), text);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_missing_file_is_one_warning_each() {
        let shared = Shared::default();
        let sources = open(Path::new("/nonexistent"), &shared);
        assert!(sources.is_empty());
        assert_eq!(shared.warnings.texts().len(), FILES.len());
        assert!(shared.warnings.texts()[0].contains("/nonexistent/stat"));
    }
}
