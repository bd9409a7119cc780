//! The share of a load that one engine runs, where several engines on several hosts run it.
//!
//! Enters: its two numbers. Leaves: which of the load's connections are this engine's. Never:
//! changes what is derived from the whole load: steps, pools, numbers and random numbers.

use serde::Deserialize;

/// An engine has every `of`-th connection of each server, from number `index` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    pub index: usize,
    pub of: usize,
}

impl Default for Share {
    fn default() -> Share {
        Share { index: 0, of: 1 }
    }
}

impl Share {
    /// Whether the connection with this number among those of its server is this engine's.
    #[must_use]
    pub fn has(self, ordinal: usize) -> bool {
        ordinal % self.of == self.index
    }

    /// The number of an own connection among this engine's connections to its server.
    #[must_use]
    pub fn place(self, ordinal: usize) -> usize {
        ordinal / self.of
    }

    /// The number, in the whole load, of the n-th thing that this engine takes in its turn.
    #[must_use]
    pub fn nth(self, number: usize) -> usize {
        number.wrapping_mul(self.of).wrapping_add(self.index)
    }

    /// How many of the connections with numbers below `end` are this engine's.
    #[must_use]
    pub fn count(self, end: usize) -> usize {
        (end + self.of - 1 - self.index) / self.of
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn every_connection_is_one_engine_s_and_counted_there() {
        for of in [1, 2, 3, 7] {
            for end in 0..30 {
                let shares = || (0..of).map(|index| Share { index, of });
                for share in shares() {
                    let own: Vec<_> = (0..end).filter(|&ordinal| share.has(ordinal)).collect();
                    assert_eq!(share.count(end), own.len());
                    let places: Vec<_> = own.iter().map(|&own| share.place(own)).collect();
                    assert_eq!(places, (0..own.len()).collect::<Vec<_>>());
                }
                let counts: usize = shares().map(|share| share.count(end)).sum();
                assert_eq!(counts, end);
            }
        }
    }
}
