//! `pgassay._core.fold_stacks` and what is made of folded stacks.
//!
//! Enters: the path of perf's text, folded stacks, JSON texts. Leaves: texts and bytes. Never:
//! holds the interpreter while it reads or draws.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;

use pgassay_profile::{Drawing, ProfileError, Weighing};
use pyo3::prelude::*;

use crate::errors::{ConfigurationError, CoreError, profile_error};
use crate::load::Load;

/// Fold the text of `perf script`; returns the stacks and a JSON of what there was of samples.
#[pyfunction]
#[pyo3(signature = (path, processes, *, clock_offset_ns = 0, off_cpu = false, load = None))]
pub fn fold_stacks(
    py: Python<'_>,
    path: &str,
    processes: HashMap<i32, (String, String)>,
    clock_offset_ns: i64,
    off_cpu: bool,
    load: Option<PyRef<'_, Load>>,
) -> PyResult<(String, String)> {
    let board = load.map(|load| load.board());
    let weighing = if off_cpu {
        Weighing::OffCpuMicroseconds
    } else {
        Weighing::Samples
    };
    let folded = py.detach(|| {
        let file = File::open(path).map_err(|error| CoreError::new_err(error.to_string()))?;
        let history = board.as_ref().map(|board| board.history());
        let who = |pid: i32, time_ns: u64| {
            let (kind, name) = processes.get(&pid).cloned().unwrap_or_default();
            let time_ns = i64::try_from(time_ns).unwrap_or(i64::MAX);
            let scenario = history
                .as_ref()
                .and_then(|past| past.scenario(pid, time_ns.saturating_add(clock_offset_ns)));
            match scenario {
                Some(scenario) => (kind, format!("scenario {scenario}")),
                None => (kind, name),
            }
        };
        pgassay_profile::fold(BufReader::new(file), weighing, who)
            .map_err(|error| profile_error(&error))
    })?;
    let about = serde_json::to_string(&folded);
    let about = about.map_err(|error| CoreError::new_err(error.to_string()))?;
    Ok((folded.to_text(), about))
}

/// The flame graph of folded stacks, as SVG.
#[pyfunction]
pub fn draw_flame_graph(py: Python<'_>, stacks: &str, drawing: &str) -> PyResult<String> {
    let drawing = parsed(drawing)?;
    py.detach(|| pgassay_profile::flame_graph(stacks, &drawing))
        .map_err(|error| profile_error(&error))
}

/// The flame graph of the stacks after, coloured by the difference from those before.
#[pyfunction]
pub fn draw_difference(
    py: Python<'_>,
    before: (String, f64),
    after: (String, f64),
    drawing: &str,
) -> PyResult<String> {
    let drawing = parsed(drawing)?;
    py.detach(|| {
        let (before, after) = ((before.0.as_str(), before.1), (after.0.as_str(), after.1));
        pgassay_profile::difference(before, after, &drawing)
    })
    .map_err(|error| profile_error(&error))
}

/// The profile as speedscope's JSON.
#[pyfunction]
pub fn speedscope(stacks: &str, name: &str, unit_ns: f64) -> PyResult<String> {
    pgassay_profile::speedscope(stacks, name, unit_ns).map_err(|error| profile_error(&error))
}

/// The profile as pprof's protocol buffer, not compressed.
#[pyfunction]
pub fn pprof(
    stacks: &str,
    value: &str,
    unit_ns: f64,
    time_ns: i64,
    duration_ns: i64,
) -> PyResult<Vec<u8>> {
    pgassay_profile::pprof(stacks, value, unit_ns, time_ns, duration_ns)
        .map_err(|error: ProfileError| profile_error(&error))
}

fn parsed(drawing: &str) -> PyResult<Drawing> {
    serde_json::from_str(drawing).map_err(|error| ConfigurationError::new_err(error.to_string()))
}
