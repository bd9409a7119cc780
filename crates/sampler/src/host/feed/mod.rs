//! Sources of the texts of the host's files.
//!
//! Enters: which files are wanted, of the host and of each process of the server. Leaves: their
//! texts, each with the time it was read, by this machine's clock. Never: parses a text.

pub(crate) mod pipe;
pub(crate) mod sql;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::mem;
use std::os::unix::fs::FileExt;

use pgassay_session::clock;

use crate::configuration::{Format, HostFile};
use crate::host::processes::{PROCESS_FILES, SCHEDSTAT};
use crate::shared::Shared;

/// Receives one file: its path, its text, when it was read.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&str, &str, i64);

/// A source of a host's files.
pub(crate) trait Feed {
    /// Reads everything once. `without_title` are processes whose titles are to be read too.
    ///
    /// Returns whether it can be read again; a failure is a warning.
    fn read(&mut self, without_title: &[i32], shared: &Shared, sink: Sink<'_>) -> bool;
}

const FIRST_BUFFER_BYTES: usize = 16 * 1024;
/// More than any file read here has; limits memory if a file never ends.
const LARGEST_FILE_BYTES: usize = 16 * 1024 * 1024;

/// Reads the files of this machine, which stay open and are read from the start each time.
pub(crate) struct Local {
    files: Vec<(String, File)>,
    file_systems: Vec<String>,
    postmaster: Option<i32>,
    leaves: Vec<&'static str>,
    /// The text of [`SCHEDSTAT`] for each process at the last reading.
    ran: HashMap<i32, String>,
    buffer: Vec<u8>,
}

impl Local {
    pub(crate) fn open(wanted: &[HostFile], postmaster: Option<i32>, shared: &Shared) -> Local {
        let (file_systems, files): (Vec<_>, Vec<_>) = wanted
            .iter()
            .map(|file| (file.path.clone(), file.format))
            .partition(|(_, format)| *format == Format::FileSystem);
        let files = files
            .into_iter()
            .filter_map(|(path, _)| match File::open(&path) {
                Ok(file) => Some((path, file)),
                Err(error) => {
                    warn(shared, &path, &error);
                    None
                }
            });
        Local {
            files: files.collect(),
            file_systems: file_systems.into_iter().map(|(path, _)| path).collect(),
            postmaster,
            leaves: PROCESS_FILES.to_vec(),
            ran: HashMap::new(),
            buffer: vec![0; FIRST_BUFFER_BYTES],
        }
    }

    fn processes(&mut self, pm: i32, without_title: &[i32], sink: Sink<'_>) -> io::Result<()> {
        let children = fs::read_to_string(format!("/proc/{pm}/task/{pm}/children"))?;
        let pids = children.split_ascii_whitespace();
        let mut before = mem::take(&mut self.ran);
        for pid in pids.filter_map(|word| word.parse::<i32>().ok()) {
            let last = before.remove(&pid).unwrap_or_default();
            let ran = self.process(pid, last, sink);
            self.ran.insert(pid, ran);
        }
        for pid in without_title {
            let path = format!("/proc/{pid}/cmdline");
            if let Ok(title) = fs::read(&path) {
                sink(&path, &String::from_utf8_lossy(&title), clock::now_ns());
            }
        }
        Ok(())
    }

    /// Reads the files of one process. Most of a thousand sessions are idle, so for a process
    /// that has not run since the last reading nothing but [`SCHEDSTAT`] is read.
    fn process(&mut self, pid: i32, last: String, sink: Sink<'_>) -> String {
        let path = |leaf: &str| format!("/proc/{pid}/{leaf}");
        let ran = match record(&path(SCHEDSTAT), &mut self.buffer) {
            Ok(text) if text == last => {
                sink(&path(SCHEDSTAT), text, clock::now_ns());
                return last;
            }
            Ok(text) => text.to_owned(),
            Err(_) => String::new(),
        };
        let mut there = true;
        self.leaves.retain(|leaf| {
            let path = path(leaf);
            if *leaf == SCHEDSTAT {
                if there && !ran.is_empty() {
                    sink(&path, &ran, clock::now_ns());
                }
                return true;
            }
            match record(&path, &mut self.buffer) {
                Ok(text) => {
                    sink(&path, text, clock::now_ns());
                    true
                }
                Err(error) => {
                    there = false;
                    // A process may end at any time; the others are still read.
                    error.kind() != io::ErrorKind::PermissionDenied
                }
            }
        });
        ran
    }
}

impl Feed for Local {
    fn read(&mut self, without_title: &[i32], shared: &Shared, sink: Sink<'_>) -> bool {
        let buffer = &mut self.buffer;
        self.files.retain(|(path, file)| match read(file, buffer) {
            Ok(text) => {
                sink(path, text, clock::now_ns());
                true
            }
            Err(error) => {
                warn(shared, path, &error);
                false
            }
        });
        self.file_systems
            .retain(|path| match rustix::fs::statvfs(path.as_str()) {
                Ok(found) => {
                    let text = format!(
                        "size_bytes {}\nfree_bytes {}\n",
                        found.f_blocks.saturating_mul(found.f_frsize),
                        found.f_bavail.saturating_mul(found.f_frsize),
                    );
                    sink(path, &text, clock::now_ns());
                    true
                }
                Err(error) => {
                    warn(shared, path, &error.into());
                    false
                }
            });
        if let Some(postmaster) = self.postmaster
            && let Err(error) = self.processes(postmaster, without_title, sink)
        {
            shared.warnings.add("processes", || {
                if error.kind() == io::ErrorKind::NotFound {
                    "the server ended; what its processes take is missing until it is back"
                        .to_owned()
                } else {
                    format!("the server's processes could not be read: {error}")
                }
            });
            self.postmaster = None;
        }
        !(self.files.is_empty() && self.file_systems.is_empty() && self.postmaster.is_none())
    }
}

/// Reads a file of `/proc/PID`, which one read returns whole: no second read checks for its end.
fn record<'a>(path: &str, buffer: &'a mut [u8]) -> io::Result<&'a str> {
    let length = File::open(path)?.read_at(buffer, 0)?;
    text(buffer, length)
}

/// Reads the whole file from its start; the buffer grows as needed and keeps its size.
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
    text(buffer, length)
}

fn text(buffer: &[u8], length: usize) -> io::Result<&str> {
    let bytes = buffer.get(..length).unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn warn(shared: &Shared, path: &str, error: &io::Error) {
    shared
        .warnings
        .add(path, || format!("{path} could not be read: {error}"));
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn asleep() -> (std::process::Child, i32) {
        let child = std::process::Command::new("sleep").arg("60").spawn();
        let child = child.unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        (child, pid)
    }

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
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_missing_file_is_one_warning_each_and_without_any_there_is_nothing_to_do() {
        let shared = Shared::default();
        let wanted = ["/nonexistent/stat", "/nonexistent/meminfo"].map(|path| HostFile {
            path: path.to_owned(),
            source: "s".to_owned(),
            object: String::new(),
            format: Format::Stat,
        });
        let mut feed = Local::open(&wanted, None, &shared);
        assert!(!feed.read(&[], &shared, &mut |_, _, _| {}));
        assert_eq!(shared.warnings.texts().len(), 2);
        assert!(shared.warnings.texts()[0].contains("/nonexistent/stat"));
    }

    #[test]
    fn children_of_a_process_are_read_with_their_titles() {
        let (mut child, pid) = asleep();
        let shared = Shared::default();
        let me = i32::try_from(std::process::id()).unwrap();
        let mut feed = Local::open(&[], Some(me), &shared);
        let mut seen = Vec::new();
        // The child may be another thread's, whose children are listed under that thread.
        let task = rustix::thread::gettid().as_raw_nonzero().get();
        let listed = fs::read_to_string(format!("/proc/{me}/task/{task}/children")).unwrap();
        assert!(listed.contains(&pid.to_string()));
        feed.read(&[pid], &shared, &mut |path, _, _| {
            seen.push(path.to_owned())
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen.contains(&format!("/proc/{pid}/cmdline")));
    }

    #[test]
    fn of_a_process_that_has_not_run_since_only_that_is_read() {
        let (mut child, pid) = asleep();
        let shared = Shared::default();
        let mut feed = Local::open(&[], None, &shared);
        let mut last = String::new();
        let mut look = |last: &mut String| {
            let mut seen = Vec::new();
            let before = mem::take(last);
            *last = feed.process(pid, before, &mut |path, _, _| seen.push(path.to_owned()));
            seen
        };
        let all = PROCESS_FILES.map(|leaf| format!("/proc/{pid}/{leaf}"));
        assert_eq!(look(&mut last), all);
        let only = [format!("/proc/{pid}/{SCHEDSTAT}")];
        // It may still be on its way to sleep.
        while look(&mut last) != only {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(look(&mut last).is_empty());
    }
}
