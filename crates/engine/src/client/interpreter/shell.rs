//! `\shell` and `\setshell`: programs that a script runs on this machine.
//!
//! Enters: words of a command, the variables of a client. Leaves: an integer, or an error of the
//! script. Never: runs unless the configuration allows it. The thread and all its clients wait
//! meanwhile, as in pgbench.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use crate::script::{Fault, Names, ShellWord, Variables, undefined};

/// Runs a command, which must succeed.
pub fn run(words: &[ShellWord], names: &Names, variables: &Variables) -> Result<(), Fault> {
    let mut command = command(words, names, variables)?;
    // Its output must not mix with pgassay's, which a program may read.
    match command.stdout(io::stderr()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Fault::new(format!("\\shell: the command failed: {status}"))),
        Err(error) => Err(Fault::new(format!(
            "\\shell: could not launch shell command: {error}"
        ))),
    }
}

/// Runs a command whose first line of output is an integer.
pub fn read(words: &[ShellWord], names: &Names, variables: &Variables) -> Result<i64, Fault> {
    let mut command = command(words, names, variables)?;
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| {
        Fault::new(format!(
            "\\setshell: could not launch shell command: {error}"
        ))
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().ok_or_else(|| {
        Fault::new("\\setshell: could not read result of shell command".to_owned())
    })?;
    line.trim().parse().map_err(|_| {
        Fault::with_value(format!(
            "\\setshell: shell command must return an integer (not \"{line}\")"
        ))
    })
}

fn command(words: &[ShellWord], names: &Names, variables: &Variables) -> Result<Command, Fault> {
    let mut line = Vec::new();
    for word in words {
        if !line.is_empty() {
            line.push(b' ');
        }
        match word {
            ShellWord::Text(text) => line.extend_from_slice(text),
            ShellWord::Variable(slot) => match variables.get(*slot) {
                Some(content) => content.write_text(&mut line),
                None => return Err(undefined(names.name(*slot))),
            },
        }
    }
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(OsStr::from_bytes(&line))
        .stdin(Stdio::null());
    Ok(command)
}
