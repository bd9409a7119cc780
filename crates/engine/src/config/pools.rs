//! Divides connections among scenarios.
//!
//! Enters: the clients of a step and the weights. Leaves: pools of connections, and how many of
//! each a step keeps busy. Never: opens a connection.

use serde::Deserialize;

use super::{Configuration, Step};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pools {
    /// Every connection runs every scenario, as in pgbench.
    #[default]
    Shared,
    /// Every scenario has its own connections.
    PerScenario,
}

/// What a connection is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assignment {
    pub pool: usize,
    /// Position within its pool: a step keeps the first ones busy.
    pub rank: usize,
    /// Number among the clients of its server, from 0: the `client_id` of scripts.
    pub ordinal: usize,
    /// The variant whose server it is connected to, if each variant has its own server.
    pub server_variant: Option<usize>,
}

impl Configuration {
    /// Connections of each pool that a step keeps busy.
    #[must_use]
    pub fn pool_sizes(&self, step: &Step) -> Vec<usize> {
        if self.pools == Pools::Shared {
            return vec![step.clients];
        }
        let weights = || self.scenarios.iter().map(|scenario| scenario.weight);
        let total: f64 = weights().filter(|&weight| weight > 0.0).sum();
        weights()
            .map(|weight| {
                if weight < 0.0 {
                    // The configuration was checked: a whole number.
                    return -weight as usize;
                }
                let wanted = step.clients as f64 * weight / total;
                // A product such as 30 × 0.1 must not become 4 by its rounding.
                (wanted - 1e-9).max(0.0).ceil() as usize
            })
            .collect()
    }

    /// The share of the arrivals that each pool takes; none if it runs a closed loop.
    #[must_use]
    pub fn pool_shares(&self) -> Vec<Option<f64>> {
        if self.pools == Pools::Shared {
            return vec![Some(1.0)];
        }
        let weights = || self.scenarios.iter().map(|scenario| scenario.weight);
        let total: f64 = weights().filter(|&weight| weight > 0.0).sum();
        weights()
            .map(|weight| (weight > 0.0).then(|| weight / total))
            .collect()
    }

    /// The connections to open: as many of each pool as its largest step needs, repeated for
    /// every server.
    #[must_use]
    pub fn assignments(&self) -> Vec<Assignment> {
        let of_one = self.assignments_of_one_server();
        let Some(variants) = self.servers() else {
            return of_one;
        };
        let server_variants = 0..variants.len();
        server_variants
            .flat_map(|server_variant| {
                of_one.iter().map(move |assignment| Assignment {
                    server_variant: Some(server_variant),
                    ..*assignment
                })
            })
            .collect()
    }

    /// The connections for one server, in the order of their ordinals.
    #[must_use]
    pub fn assignments_of_one_server(&self) -> Vec<Assignment> {
        let mut sizes: Vec<usize> = Vec::new();
        for step in &self.steps {
            let wanted = self.pool_sizes(step);
            sizes.resize(wanted.len(), 0);
            for (size, wanted) in sizes.iter_mut().zip(wanted) {
                *size = wanted.max(*size);
            }
        }
        let pools = sizes.into_iter().enumerate();
        pools
            .flat_map(|(pool, size)| (0..size).map(move |rank| (pool, rank)))
            .enumerate()
            .map(|(ordinal, (pool, rank))| Assignment {
                pool,
                rank,
                ordinal,
                server_variant: None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use serde_json::json;

    fn configuration(weights: &[i32]) -> Configuration {
        let mut json = example();
        json["pools"] = json!("per_scenario");
        let scenario =
            |weight: &i32| json!({"name": "a", "file": "a", "script": "x", "weight": weight});
        json["scenarios"] = weights.iter().map(scenario).collect();
        Configuration::parse(&json.to_string()).unwrap()
    }

    #[test]
    fn a_pool_is_rounded_up_and_a_negative_weight_is_a_constant() {
        let configuration = configuration(&[3, 1, -2, 0]);
        let sizes = |step: usize| configuration.pool_sizes(&configuration.steps[step]);
        assert_eq!(sizes(0), [6, 2, 2, 0]);
        assert_eq!(sizes(1), [2, 1, 2, 0]);
        assert_eq!(configuration.assignments().len(), 10);
        let assignment = Assignment {
            pool: 1,
            rank: 1,
            ordinal: 7,
            server_variant: None,
        };
        assert_eq!(configuration.assignments()[7], assignment);
        let shares = [Some(0.75), Some(0.25), None, None];
        assert_eq!(configuration.pool_shares(), shares);
    }

    #[test]
    fn every_server_has_all_clients_and_each_knows_them_by_the_same_ordinals() {
        let mut json = example();
        json["slices"] = json!({
            "variants": [{"name": "a", "connection": json["connection"]},
                {"name": "b", "connection": json["connection"]}],
            "schedule": [[0, 0.5], [1, 0.5]]});
        let assignments = Configuration::parse(&json.to_string())
            .unwrap()
            .assignments();
        assert_eq!(assignments.len(), 16);
        for (number, assignment) in assignments.iter().enumerate() {
            assert_eq!(
                (assignment.ordinal, assignment.rank),
                (number % 8, number % 8)
            );
            assert_eq!(assignment.server_variant, Some(number / 8));
        }
    }

    #[test]
    fn connections_that_all_are_constants_need_no_share() {
        let configuration = configuration(&[-1, -4]);
        assert_eq!(configuration.pool_sizes(&configuration.steps[0]), [1, 4]);
    }
}
