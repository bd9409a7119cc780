//! Files of another machine, read there by a program that is connected through pipes.
//!
//! Enters: the program's command line. Leaves: the texts it prints for each line it is sent.
//! Never: outlives its owner; the program ends when its input does.
//!
//! It is sent `go` and the processes whose titles are to be read. It answers with lines
//! `PATH:LINE`, those of one file together, and ends with a line that has only a dot.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use pgassay_session::clock;

use crate::host::feed::{Feed, Sink};
use crate::shared::Shared;

/// Longer than any valid answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
const LOOK_AFTER: Duration = Duration::from_millis(100);

/// One answer, and when its first line came.
struct Answer {
    first_ns: i64,
    files: Vec<(String, String)>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Answer>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The program may wait for a network, so it is killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Pipe {
    words: Vec<String>,
    running: Option<Running>,
}

impl Pipe {
    pub(crate) fn new(words: Vec<String>) -> Pipe {
        Pipe {
            words,
            running: None,
        }
    }

    fn ask(
        &mut self,
        without_title: &[i32],
        shared: &Shared,
    ) -> Result<Option<(i64, Answer)>, String> {
        let running = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(start(&self.words)?),
        };
        let pids: Vec<_> = without_title.iter().map(ToString::to_string).collect();
        let asked_ns = clock::now_ns();
        let line = format!("go {}\n", pids.join(" "));
        running
            .input
            .write_all(line.as_bytes())
            .map_err(|error| error.to_string())?;
        let asked = Instant::now();
        while asked.elapsed() < ANSWER_LIMIT {
            match running.answers.recv_timeout(LOOK_AFTER) {
                Ok(answer) => return Ok(Some((asked_ns, answer))),
                Err(RecvTimeoutError::Disconnected) => return Err("it has ended".to_owned()),
                Err(RecvTimeoutError::Timeout) if shared.stop.is_asked() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        Err("it does not answer".to_owned())
    }
}

fn start(words: &[String]) -> Result<Running, String> {
    let (program, arguments) = words.split_first().ok_or("no program is named")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A process group of its own: Ctrl-C in a terminal must not end it before the load.
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("its input and output could not be connected".to_owned());
    };
    let (sender, answers) = channel();
    // Reading blocks, and a stop must not wait for a network, so a separate thread reads; it
    // ends with the program.
    std::thread::Builder::new()
        .name("pgassay-pipe".to_owned())
        .spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(answer) = read_answer(&mut output) {
                if sender.send(answer).is_err() {
                    return;
                }
            }
        })
        .map_err(|error| error.to_string())?;
    Ok(Running {
        child,
        input,
        answers,
    })
}

impl Feed for Pipe {
    fn read(&mut self, without_title: &[i32], shared: &Shared, sink: Sink<'_>) -> bool {
        match self.ask(without_title, shared) {
            Ok(Some((asked_ns, answer))) => {
                // The program read the files between request and answer: take the middle.
                let time_ns = asked_ns + (answer.first_ns - asked_ns) / 2;
                for (path, text) in &answer.files {
                    sink(path, text, time_ns);
                }
            }
            Ok(None) => {}
            Err(problem) => {
                self.running = None;
                shared.warnings.add("pipe", || {
                    format!("the host's reader stopped: {problem}; counters are missing until it is back")
                });
            }
        }
        true
    }
}

/// Reads up to the line with a dot; `None` if the program ended.
fn read_answer(output: &mut impl BufRead) -> Option<Answer> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut first_ns = None;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if output.read_until(b'\n', &mut bytes).ok()? == 0 {
            return None;
        }
        let at = *first_ns.get_or_insert_with(clock::now_ns);
        let line = String::from_utf8_lossy(&bytes);
        if line.trim_end() == "." {
            return Some(Answer {
                first_ns: at,
                files,
            });
        }
        let Some((path, line)) = line.split_once(':') else {
            continue;
        };
        match files.last_mut() {
            Some((last, text)) if last == path => text.push_str(line),
            _ => files.push((path.to_owned(), line.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(script: &str) -> Pipe {
        Pipe::new(["sh", "-c", script].map(str::to_owned).to_vec())
    }

    fn texts(pipe: &mut Pipe, shared: &Shared) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let before = clock::now_ns();
        assert!(pipe.read(&[7, 8], shared, &mut |path, text, time_ns| {
            assert!(time_ns >= before && time_ns <= clock::now_ns());
            found.push((path.to_owned(), text.to_owned()));
        }));
        found
    }

    #[test]
    fn lines_of_one_file_are_its_text() {
        let shared = Shared::default();
        let mut pipe =
            reader("while read -r a b; do printf '/p:a 1\\n/p:b 2\\n/t:%s\\n.\\n' \"$b\"; done");
        let expected = [("/p", "a 1\nb 2\n"), ("/t", "7 8\n")]
            .map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert_eq!(texts(&mut pipe, &shared), expected);
        assert_eq!(texts(&mut pipe, &shared), expected);
        assert!(shared.warnings.texts().is_empty());
    }

    #[test]
    fn a_reader_that_ended_is_a_warning_and_is_started_again() {
        let shared = Shared::default();
        let mut pipe = reader("read -r a; printf '/p:1\\n.\\n'");
        assert_eq!(texts(&mut pipe, &shared).len(), 1);
        assert_eq!(texts(&mut pipe, &shared).len(), 0);
        assert_eq!(shared.warnings.texts().len(), 1);
        assert_eq!(texts(&mut pipe, &shared).len(), 1);
    }

    #[test]
    fn a_reader_that_says_nothing_does_not_hold_up_a_stop() {
        let shared = Shared::default();
        shared.stop.ask();
        assert!(texts(&mut reader("sleep 60"), &shared).is_empty());
    }
}
