//! From the text of `perf script` to folded stacks.
//!
//! Enters: that text, line by line, and who each process was at a time. Leaves: [`Folded`].
//! Never: holds the text, or fails for a line it does not know.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use serde::Serialize;

use crate::error::ProfileError;
use crate::frames::{CUT_OFF, frame, is_entry, is_outer, kind_by_frames, plain};

/// What a stack counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighing {
    /// Each sample once: of CPU time, samples come at even intervals of it.
    Samples,
    /// The microseconds from the sample, at which a process was switched out, to the time when it
    /// was switched in again.
    OffCpuMicroseconds,
}

/// Folded stacks, and what there was of samples.
#[derive(Debug, Default, Serialize)]
pub struct Folded {
    /// Stack, frames outermost first and joined by `;` → its weight.
    #[serde(skip)]
    pub stacks: BTreeMap<String, u64>,
    pub samples: u64,
    /// Samples whose innermost function has no name.
    pub unnamed: u64,
    /// Samples whose stack was longer than what was copied of it.
    pub cut_off: u64,
    /// Of the clock that perf was told to use; 0 without a sample.
    pub first_ns: u64,
    pub last_ns: u64,
}

impl Folded {
    /// One line for each stack: frames, a blank, the weight.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (stack, weight) in &self.stacks {
            text.push_str(&format!("{stack} {weight}\n"));
        }
        text
    }
}

/// Fold what perf recorded; `who` names a process at a time: its kind (empty: not known),
/// and its scenario or application.
pub fn fold(
    text: impl BufRead,
    weighing: Weighing,
    who: impl Fn(i32, u64) -> (String, String),
) -> Result<Folded, ProfileError> {
    let mut folded = Folded::default();
    let mut sample: Option<Sample> = None;
    let mut out: HashMap<i32, (u64, String)> = HashMap::new();
    for line in text.split(b'\n') {
        let line = line.map_err(ProfileError::Reading)?;
        let line = String::from_utf8_lossy(&line);
        if line.starts_with('\t') {
            if let (Some(found), Some(one)) = (frame(&line), sample.as_mut()) {
                one.frames.push(found);
            }
            continue;
        }
        if let Some(done) = sample.take() {
            finish(done, weighing, &who, &mut folded, &mut out);
        }
        match event(&line) {
            Some((_, tid, time_ns, rest)) if rest.starts_with("PERF_RECORD_SWITCH") => {
                if rest.split_whitespace().nth(1) == Some("IN")
                    && let Some((since, stack)) = out.remove(&tid)
                {
                    *folded.stacks.entry(stack).or_default() +=
                        time_ns.saturating_sub(since) / 1000;
                }
            }
            Some((pid, tid, time_ns, _)) => {
                sample = Some(Sample {
                    pid,
                    tid,
                    time_ns,
                    frames: Vec::new(),
                });
            }
            None => {}
        }
    }
    if let Some(done) = sample {
        finish(done, weighing, &who, &mut folded, &mut out);
    }
    folded.stacks.retain(|_, weight| *weight > 0);
    Ok(folded)
}

struct Sample {
    pid: i32,
    tid: i32,
    time_ns: u64,
    /// Innermost first.
    frames: Vec<crate::frames::Frame>,
}

fn finish(
    sample: Sample,
    weighing: Weighing,
    who: &impl Fn(i32, u64) -> (String, String),
    folded: &mut Folded,
    out: &mut HashMap<i32, (u64, String)>,
) {
    if sample.frames.is_empty() {
        return;
    }
    folded.samples += 1;
    folded.unnamed += u64::from(!sample.frames.first().is_some_and(|frame| frame.named));
    folded.first_ns = if folded.first_ns == 0 {
        sample.time_ns
    } else {
        folded.first_ns.min(sample.time_ns)
    };
    folded.last_ns = folded.last_ns.max(sample.time_ns);
    // A postmaster that starts a process and the process itself share outer frames; the innermost
    // of them is where own work begins.
    let outer = sample.frames.iter().position(|frame| is_outer(&frame.name));
    let own = outer.unwrap_or(sample.frames.len());
    let complete = outer.is_some() || sample.frames.iter().any(|frame| is_entry(&frame.name));
    folded.cut_off += u64::from(!complete);
    let (kind, name) = who(sample.pid, sample.time_ns);
    let mut stack = plain(&kind);
    if stack.is_empty() {
        let names = sample.frames.iter().map(|frame| frame.name.as_str());
        kind_by_frames(names).clone_into(&mut stack);
    }
    for part in [plain(&name).as_str(), if complete { "" } else { CUT_OFF }] {
        if !part.is_empty() {
            stack.push(';');
            stack.push_str(part);
        }
    }
    let frames = sample.frames.get(..own).unwrap_or_default();
    // Of binaries without debug symbols, some functions outside of it have no name.
    let entry = frames.iter().rposition(|frame| is_entry(&frame.name));
    let below = entry.filter(|&at| {
        frames
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .all(|f| !f.named)
    });
    let frames = below.and_then(|at| frames.get(..=at)).unwrap_or(frames);
    for frame in frames.iter().rev() {
        stack.push(';');
        stack.push_str(&frame.name);
    }
    match weighing {
        Weighing::Samples => *folded.stacks.entry(stack).or_default() += 1,
        Weighing::OffCpuMicroseconds => {
            out.insert(sample.tid, (sample.time_ns, stack));
        }
    }
}

/// `COMM PID/TID SECONDS.NANOSECONDS: REST`; a comm may contain blanks.
fn event(line: &str) -> Option<(i32, i32, u64, &str)> {
    let mut at = 0;
    for word in line.split(' ') {
        let start = at;
        at += word.len() + 1;
        let Some((pid, tid)) = word.split_once('/') else {
            continue;
        };
        let (Ok(pid), Ok(tid)) = (pid.parse(), tid.parse()) else {
            continue;
        };
        let rest = line.get(start + word.len()..)?.trim_start();
        let (time, rest) = rest.split_once(':')?;
        let (seconds, fraction) = time.split_once('.')?;
        let nanoseconds: u64 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
        let seconds: u64 = seconds.trim().parse().ok()?;
        let time_ns = seconds
            .checked_mul(1_000_000_000)?
            .checked_add(nanoseconds)?;
        return Some((pid, tid, time_ns, rest.trim()));
    }
    None
}
