//! The statements and scenarios of a variant.
//!
//! Enters: the variants of the configuration. Leaves: messages that switch a session to a variant,
//! and the mix of its scenarios. Never: knows when a slice begins.

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::config::{Configuration, Pools};
use crate::error::EngineError;
use crate::random::mix::Mix;

#[derive(Debug)]
pub struct Variant {
    pub name: String,
    /// One Query message per statement.
    pub queries: Vec<u8>,
    pub query_count: usize,
    /// The mix of scenarios for a shared pool.
    pub mix: Mix,
    /// Whether each scenario runs, by its number.
    allows: Vec<bool>,
}

impl Variant {
    pub fn compile(configuration: &Configuration) -> Result<Vec<Variant>, EngineError> {
        let variants = configuration.slices.iter().flat_map(|s| &s.variants);
        variants
            .enumerate()
            .map(|(number, variant)| {
                let mut queries = BytesMut::new();
                for sql in &variant.sql {
                    frontend::query(sql, &mut queries).map_err(|error| {
                        let key = format!("slices.variants[{number}].sql");
                        EngineError::configuration(key, error.to_string())
                    })?;
                }
                let names = variant.scenarios.as_ref();
                let scenarios = configuration.scenarios.iter();
                let allows: Vec<bool> = scenarios
                    .map(|scenario| names.is_none_or(|names| names.contains(&scenario.name)))
                    .collect();
                let weights = configuration.scenarios.iter().zip(&allows);
                let weights = weights.map(|(s, &allowed)| if allowed { s.weight } else { 0.0 });
                Ok(Variant {
                    name: variant.name.clone(),
                    queries: queries.to_vec(),
                    query_count: variant.sql.len(),
                    mix: match configuration.pools {
                        Pools::Shared => Mix::new(&weights.collect::<Vec<_>>()),
                        Pools::PerScenario => Mix::new(&[]),
                    },
                    allows,
                })
            })
            .collect()
    }

    #[must_use]
    pub fn allows(&self, scenario: usize) -> bool {
        self.allows.get(scenario).copied().unwrap_or(false)
    }
}
