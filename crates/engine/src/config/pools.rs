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
    /// Number among all connections of the load, from 0.
    pub number: usize,
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

    /// The connections that this engine opens: of each pool as many as its largest step needs,
    /// repeated for every server; of these its share.
    #[must_use]
    pub fn assignments(&self) -> Vec<Assignment> {
        let of_one = self.assignments_of_one_server();
        let servers: Vec<Option<usize>> = match self.servers() {
            Some(variants) => (0..variants.len()).map(Some).collect(),
            None => vec![None],
        };
        let all = servers
            .into_iter()
            .flat_map(|server_variant| {
                of_one.iter().map(move |assignment| Assignment {
                    server_variant,
                    ..*assignment
                })
            })
            .enumerate()
            .map(|(number, assignment)| Assignment {
                number,
                ..assignment
            });
        all.filter(|assignment| self.share.has(assignment.ordinal))
            .collect()
    }

    /// The largest size of each pool.
    fn largest_pools(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = Vec::new();
        for step in &self.steps {
            let wanted = self.pool_sizes(step);
            sizes.resize(wanted.len(), 0);
            for (size, wanted) in sizes.iter_mut().zip(wanted) {
                *size = wanted.max(*size);
            }
        }
        sizes
    }

    /// The ordinal of each pool's first connection.
    #[must_use]
    pub fn pool_starts(&self) -> Vec<usize> {
        let sizes = self.largest_pools();
        let starts = sizes.iter().scan(0, |next, size| {
            let start = *next;
            *next += size;
            Some(start)
        });
        starts.collect()
    }

    /// All connections of the load to one server, in the order of their ordinals.
    #[must_use]
    pub fn assignments_of_one_server(&self) -> Vec<Assignment> {
        let pools = self.largest_pools().into_iter().enumerate();
        pools
            .flat_map(|(pool, size)| (0..size).map(move |rank| (pool, rank)))
            .enumerate()
            .map(|(ordinal, (pool, rank))| Assignment {
                pool,
                rank,
                number: ordinal,
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
            number: 7,
            ordinal: 7,
            server_variant: None,
        };
        assert_eq!(configuration.assignments()[7], assignment);
        assert_eq!(configuration.pool_starts(), [0, 6, 8, 10]);
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
    fn shares_have_every_connection_once_as_one_engine_would_have_it() {
        for with_servers in [false, true] {
            let mut json = example();
            if with_servers {
                let variant = |name| json!({"name": name, "connection": json["connection"]});
                json["slices"] = json!({"variants": [variant("a"), variant("b")],
                    "schedule": [[0, 0.5], [1, 0.5]]});
            } else {
                let scenario = |weight: i32| json!({"name": "a", "file": "a", "script": "x", "weight": weight});
                json["pools"] = json!("per_scenario");
                json["scenarios"] = [3, 1, -2, 0].map(scenario).into_iter().collect();
            }
            let of_share = |index: usize, of: usize| {
                let mut json = json.clone();
                json["share"] = json!({"index": index, "of": of});
                let configuration = Configuration::parse(&json.to_string()).unwrap();
                configuration.assignments()
            };
            for of in [2, 3, 64] {
                let mut all: Vec<_> = (0..of).flat_map(|index| of_share(index, of)).collect();
                all.sort_by_key(|assignment| assignment.number);
                assert_eq!(all, of_share(0, 1));
            }
            assert!(of_share(63, 64).is_empty(), "and it may have none");
        }
    }

    #[test]
    fn connections_that_all_are_constants_need_no_share() {
        let configuration = configuration(&[-1, -4]);
        assert_eq!(configuration.pool_sizes(&configuration.steps[0]), [1, 4]);
    }
}
