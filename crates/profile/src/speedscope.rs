//! A profile as speedscope (and several editors) read it.
//!
//! Enters: folded stacks, the nanoseconds of one weight. Leaves: JSON. Never: names a time of day.

use std::collections::HashMap;

use serde_json::json;

use crate::error::ProfileError;
use crate::stacks::stacks;

/// `unit_ns`: the nanoseconds that one weight of a stack stands for.
pub fn speedscope(folded: &str, name: &str, unit_ns: f64) -> Result<String, ProfileError> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut frames = Vec::new();
    let (mut samples, mut weights, mut total_us) = (Vec::new(), Vec::new(), 0.0);
    for stack in stacks(folded) {
        let (names, weight) = stack?;
        let numbered: Vec<usize> = names
            .into_iter()
            .map(|frame| {
                *numbers.entry(frame).or_insert_with(|| {
                    frames.push(json!({"name": frame}));
                    frames.len() - 1
                })
            })
            .collect();
        #[allow(clippy::cast_precision_loss)]
        let us = weight as f64 * unit_ns / 1e3;
        total_us += us;
        samples.push(numbered);
        weights.push(us);
    }
    let whole = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "pgassay",
        "name": name,
        "shared": {"frames": frames},
        "profiles": [{
            "type": "sampled", "name": name, "unit": "microseconds",
            "startValue": 0, "endValue": total_us, "samples": samples, "weights": weights,
        }],
    });
    Ok(serde_json::to_string(&whole)?)
}
