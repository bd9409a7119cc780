//! The configuration of a sampler: what to sample, and how often.
//!
//! Enters: JSON text. Leaves: a checked [`Configuration`]. Never: accepts a period, jitter or name
//! that is not valid.

use std::time::Duration;

use pgassay_session::Endpoint;
use serde::{Deserialize, Deserializer, de};

use crate::SamplerError;
pub use crate::files::Format;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    pub connection: Endpoint,
    #[serde(default = "default_application_name")]
    pub application_name: String,
    pub waits: Option<WaitsQuery>,
    #[serde(default)]
    pub counters: Vec<CounterQuery>,
    pub host: Option<HostFiles>,
    /// The largest share of the time that readings of one kind may take; after a slow one the
    /// sampler pauses. `None` is no limit.
    #[serde(default, deserialize_with = "busy_share")]
    pub busy_share: Option<f64>,
}

/// The query that reads what each busy process waits for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitsQuery {
    pub sql: String,
    #[serde(rename = "every_s", deserialize_with = "period")]
    pub every: Duration,
    /// The width of the window around a tick's planned time, as a share of the period.
    #[serde(deserialize_with = "share")]
    pub jitter: f64,
}

/// A query for counters, and the name of their source.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterQuery {
    pub source: String,
    pub sql: String,
    #[serde(rename = "every_s", deserialize_with = "period")]
    pub every: Duration,
    /// The largest share of the time for this query alone, averaged over about a minute.
    #[serde(default, deserialize_with = "busy_share")]
    pub busy_share: Option<f64>,
}

/// The kernel's counters on the server's host.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFiles {
    #[serde(rename = "every_s", deserialize_with = "period")]
    pub every: Duration,
    pub files: Vec<HostFile>,
    /// Block devices to keep; all if it is left out.
    pub devices: Option<Vec<String>>,
    /// Process id of the postmaster; each of its children is read.
    pub postmaster: Option<i32>,
    /// A program that reads the files on the server's host; without it they are read here.
    pub reader: Option<Vec<String>>,
    /// Instead, a query of the server that returns path and text of each file.
    pub sql: Option<String>,
}

/// One file to read, and the names for its numbers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFile {
    pub path: String,
    pub source: String,
    /// The object of numbers for which the file names none.
    #[serde(default)]
    pub object: String,
    pub format: Format,
}

impl Configuration {
    pub fn from_json(text: &str) -> Result<Configuration, SamplerError> {
        from_json(text)
    }
}

impl HostFiles {
    /// The `host` object alone.
    pub fn from_json(text: &str) -> Result<HostFiles, SamplerError> {
        from_json(text)
    }
}

fn from_json<T: de::DeserializeOwned>(text: &str) -> Result<T, SamplerError> {
    serde_json::from_str(text).map_err(|error| SamplerError::Configuration(error.to_string()))
}

fn default_application_name() -> String {
    "pgassay sampler".to_owned()
}

const SHORTEST_PERIOD_S: f64 = 0.001;
const LONGEST_PERIOD_S: f64 = 86_400.0;

fn period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    if (SHORTEST_PERIOD_S..=LONGEST_PERIOD_S).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(de::Error::custom(format!(
            "every_s is {seconds}; give a number from {SHORTEST_PERIOD_S} to {LONGEST_PERIOD_S}"
        )))
    }
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(de::Error::custom(format!(
            "jitter is {share}; give a number from 0 to 1"
        )))
    }
}

fn busy_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        Some(share) if !(0.001..=1.0).contains(&share) => Err(de::Error::custom(format!(
            "busy_share is {share}; give a number from 0.001 to 1"
        ))),
        share => Ok(share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(waits: &str) -> Result<Configuration, SamplerError> {
        Configuration::from_json(&format!(
            r#"{{"connection": {{"host": "/tmp", "port": 1, "user": "u", "dbname": "d"}},
                "waits": {waits}, "host": null,
                "counters": [{{"source": "wal", "sql": "SELECT 1", "every_s": 1}}]}}"#
        ))
    }

    #[test]
    fn the_documented_form_is_accepted() {
        let configuration = with(r#"{"sql": "SELECT", "every_s": 0.1, "jitter": 0.5}"#).unwrap();
        assert_eq!(configuration.application_name, "pgassay sampler");
        assert_eq!(
            configuration.waits.unwrap().every,
            Duration::from_millis(100)
        );
    }

    #[test]
    fn a_period_or_jitter_out_of_range_is_named() {
        for (waits, word) in [
            (r#"{"sql": "", "every_s": 0, "jitter": 0.5}"#, "every_s"),
            (r#"{"sql": "", "every_s": 1e99, "jitter": 0.5}"#, "every_s"),
            (r#"{"sql": "", "every_s": 1, "jitter": -0.1}"#, "jitter"),
            (r#"{"sql": "", "every_s": 1, "jitter": 0, "x": 1}"#, "`x`"),
        ] {
            let error = with(waits).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_share_of_the_time_is_checked() {
        let with = |share: &str| {
            Configuration::from_json(&format!(
                r#"{{"connection": {{"host": "/tmp", "port": 1, "user": "u", "dbname": "d"}},
                    "waits": null, "host": null, "busy_share": {share}}}"#
            ))
        };
        assert_eq!(with("0.1").unwrap().busy_share, Some(0.1));
        assert_eq!(with("null").unwrap().busy_share, None);
        assert!(with("0").unwrap_err().to_string().contains("busy_share"));
    }
}
