//! Checks the values of a configuration.
//!
//! Enters: a configuration as it was read. Leaves: nothing, or an error that names the key and
//! the accepted values. Never: changes a value.

use std::fmt;

use super::{Configuration, Pools, Share};
use crate::error::EngineError;
use crate::script::is_name;

/// Ten years: a longer load could exceed the range of nanoseconds of Unix time.
pub(super) const LONGEST_S: f64 = 10.0 * 365.0 * 86_400.0;
const SHORTEST_INTERVAL_S: f64 = 0.001;
/// Scenarios have 16-bit numbers on the sampler's board.
const MOST_SCENARIOS: usize = u16::MAX as usize;

/// More than any server takes.
const MOST_CONNECTIONS: f64 = 1_000_000.0;

impl Configuration {
    pub(super) fn validate(&self) -> Result<(), EngineError> {
        if self.scenarios.is_empty() || self.scenarios.len() > MOST_SCENARIOS {
            return Err(wrong(
                "scenarios",
                self.scenarios.len(),
                format!("from 1 to {MOST_SCENARIOS} scenarios"),
            ));
        }
        self.validate_weights()?;
        self.validate_steps()?;
        self.validate_names()?;
        if self.threads == 0 {
            return Err(wrong("threads", 0, "1 or more"));
        }
        if !(SHORTEST_INTERVAL_S..=LONGEST_S).contains(&self.interval_s) {
            let wanted = format!("{SHORTEST_INTERVAL_S} s or more");
            return Err(wrong("interval_s", self.interval_s, wanted));
        }
        let Share { index, of } = self.share;
        if of == 0 {
            return Err(wrong("share.of", 0, "1 or more"));
        }
        if index >= of {
            let wanted = format!("a number below share.of, {of}");
            return Err(wrong("share.index", index, wanted));
        }
        self.validate_shapes()
    }

    fn validate_weights(&self) -> Result<(), EngineError> {
        for (n, scenario) in self.scenarios.iter().enumerate() {
            let weight = scenario.weight;
            let is_count = self.pools == Pools::PerScenario
                && weight < 0.0
                && weight.fract() == 0.0
                && -weight <= MOST_CONNECTIONS;
            let is_share = weight.is_finite() && weight >= 0.0;
            if !is_count && !is_share {
                let wanted = match self.pools {
                    Pools::Shared => "a number from 0 on",
                    Pools::PerScenario => "a number from 0 on, or -n for n connections",
                };
                return Err(wrong(format!("scenarios[{n}].weight"), weight, wanted));
            }
        }
        let total: f64 = self
            .scenarios
            .iter()
            .map(|scenario| scenario.weight.abs())
            .sum();
        if total <= 0.0 || !total.is_finite() {
            return Err(wrong("scenarios", total, "weights whose sum is above 0"));
        }
        Ok(())
    }

    fn validate_names(&self) -> Result<(), EngineError> {
        let is_wrong = |name: &&String| !is_name(name.as_bytes());
        match self.variables.keys().find(is_wrong) {
            Some(name) => Err(wrong(
                format!("variables.{name}"),
                "the name",
                "letters, digits and _, no digit first",
            )),
            None => Ok(()),
        }
    }

    fn validate_steps(&self) -> Result<(), EngineError> {
        if self.steps.is_empty() {
            return Err(wrong("steps", 0, "at least one step"));
        }
        for (n, step) in self.steps.iter().enumerate() {
            if step.clients == 0 {
                return Err(wrong(format!("steps[{n}].clients"), 0, "1 or more"));
            }
            if self.transactions_per_client.is_some() {
                continue;
            }
            let key = format!("steps[{n}].duration_s");
            match step.duration_s {
                None => return Err(wrong(key, "null", "a number of seconds above 0")),
                Some(seconds) if seconds > 0.0 && seconds <= LONGEST_S => {}
                Some(seconds) => return Err(wrong(key, seconds, "a number of seconds above 0")),
            }
        }
        match self.transactions_per_client {
            Some(0) => Err(wrong("transactions_per_client", 0, "1 or more, or null")),
            Some(_) if self.steps.len() != 1 => Err(wrong(
                "steps",
                self.steps.len(),
                "exactly one step with transactions_per_client",
            )),
            _ => Ok(()),
        }
    }
}

pub(super) fn wrong(
    key: impl Into<String>,
    value: impl fmt::Display,
    wanted: impl fmt::Display,
) -> EngineError {
    EngineError::configuration(key, format!("{value} is not allowed; give {wanted}"))
}
