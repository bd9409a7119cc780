//! The random numbers of one client.
//!
//! Enters: the seed of the load and a client's number. Leaves: pgbench's four distributions over
//! integers; a script draws the very numbers that it draws in pgbench with the same seed and
//! number of clients. Never: touches a source that another client or thread shares, so a seed
//! reproduces every client's sequence whatever the timing.

pub mod mix;

use std::f64::consts::TAU;

use rand_xoshiro::Xoroshiro128StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The smallest parameter `random_gaussian` takes, as in pgbench.
pub const GAUSSIAN_MIN: f64 = 2.0;
/// The range of the parameter of `random_zipfian`, as in pgbench.
pub const ZIPFIAN_RANGE: std::ops::RangeInclusive<f64> = 1.001..=1000.0;

/// The purpose of a sequence, other than functions of a script. Scenarios are chosen from a
/// separate sequence, so that the mix does not change when a script draws one number more.
#[derive(Clone, Copy)]
pub enum Purpose {
    Choice = 1,
    Arrival = 2,
    Think = 3,
    Sample = 4,
    Row = 5,
}

/// The seeds that pgbench derives from the seed of a run.
#[derive(Debug, Clone)]
pub struct Seeds {
    /// By number of the client.
    scripts: Vec<u64>,
    /// Seed of the hash functions: the variable `default_seed`.
    pub hash: i64,
}

impl Seeds {
    #[must_use]
    pub fn derive(seed: u64, clients: usize) -> Seeds {
        let mut base = Xoroshiro128StarStar::seed_from_u64(seed);
        let scripts = (0..clients).map(|_| base.next_u64()).collect();
        Seeds {
            scripts,
            hash: base.next_u64().cast_signed(),
        }
    }

    /// The numbers that the functions of a client's scripts draw.
    #[must_use]
    pub fn script(&self, client: usize) -> Random {
        let seed = self.scripts.get(client).copied().unwrap_or_default();
        Random(Xoroshiro128StarStar::seed_from_u64(seed))
    }
}

#[derive(Debug, Clone)]
pub struct Random(Xoroshiro128StarStar);

impl Random {
    #[must_use]
    pub fn new(seed: u64, client: usize, purpose: Purpose) -> Random {
        // Neighbouring seeds and clients must not have similar states.
        let mut state = scramble(seed);
        state = scramble(state ^ (client as u64));
        state = scramble(state ^ ((purpose as u64) << 56));
        Random(Xoroshiro128StarStar::seed_from_u64(state))
    }

    /// Uniform in `[0, 1)`, in steps of 2^-52.
    pub fn unit(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1u64 << 52) as f64;
        (self.0.next_u64() >> 12) as f64 * SCALE
    }

    /// Uniform in `(0, 1]`, for logarithms.
    fn positive_unit(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Exponential with a mean of 1: the gaps of a Poisson process.
    pub fn gap(&mut self) -> f64 {
        -self.positive_unit().ln()
    }

    /// Uniform in `min..=max`, of which there are fewer than 2^63; `min` where the range is empty.
    pub fn uniform(&mut self, min: i64, max: i64) -> i64 {
        if max <= min {
            return min;
        }
        let count = max.wrapping_sub(min).cast_unsigned().wrapping_add(1);
        min.wrapping_add(below(&mut self.0, count).cast_signed())
    }

    /// Uniform in `0..count`; 0 where the range is empty.
    pub fn index(&mut self, count: usize) -> usize {
        below(&mut self.0, count.max(1) as u64) as usize
    }

    /// Normal around the middle of the range, cut at `parameter` standard deviations.
    pub fn gaussian(&mut self, min: i64, max: i64, parameter: f64) -> i64 {
        let deviation = loop {
            // Box and Muller.
            let radius = (-2.0 * self.positive_unit().ln()).sqrt();
            let candidate = radius * (TAU * self.positive_unit()).sin();
            if (-parameter..parameter).contains(&candidate) {
                break candidate;
            }
        };
        spread(min, max, (deviation + parameter) / (2.0 * parameter))
    }

    /// Exponential from `min` on, cut at `parameter` means.
    pub fn exponential(&mut self, min: i64, max: i64, parameter: f64) -> i64 {
        let cut = (-parameter).exp();
        let uniform = self.positive_unit();
        spread(min, max, -(cut + (1.0 - cut) * uniform).ln() / parameter)
    }

    /// Zipf's law: the k-th value of the range with a probability in proportion to `k^-s`.
    pub fn zipfian(&mut self, min: i64, max: i64, s: f64) -> i64 {
        let count = count(min, max);
        if count <= 1.0 {
            return min;
        }
        // Rejection, after Devroye, "Non-Uniform Random Variate Generation", X.6.1.
        let b = 2.0_f64.powf(s - 1.0);
        loop {
            let u = self.unit();
            let v = self.unit();
            let x = u.powf(-1.0 / (s - 1.0)).floor();
            let t = (1.0 + 1.0 / x).powf(s - 1.0);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= count {
                return min.wrapping_add((x as i64) - 1).min(max);
            }
        }
    }
}

/// The value at `fraction` of the range.
fn spread(min: i64, max: i64, fraction: f64) -> i64 {
    let inset = (count(min, max) * fraction) as i64;
    min.wrapping_add(inset).clamp(min, max)
}

/// The number of values of a range, which must be below 2^63.
fn count(min: i64, max: i64) -> f64 {
    max.wrapping_sub(min).wrapping_add(1) as f64
}

/// Uniform in `0..count`, drawn as in pgbench: as many bits as the greatest value has, repeated
/// until the number is in the range. `count` must not be 0.
pub fn below(random: &mut impl Rng, count: u64) -> u64 {
    let greatest = count.wrapping_sub(1);
    if greatest == 0 {
        return 0;
    }
    loop {
        let value = random.next_u64() >> greatest.leading_zeros();
        if value <= greatest {
            return value;
        }
    }
}

/// The finishing step of SplitMix64.
fn scramble(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random() -> Random {
        Seeds::derive(42, 1).script(0)
    }

    fn shares(mut draw: impl FnMut(&mut Random) -> i64) -> [f64; 10] {
        let mut random = random();
        let mut counts = [0.0; 10];
        for _ in 0..100_000 {
            let value = draw(&mut random);
            assert!((1..=10).contains(&value), "{value}");
            counts[usize::try_from(value - 1).unwrap()] += 1.0 / 100_000.0;
        }
        counts
    }

    #[test]
    fn uniform_gives_every_value_its_share() {
        for share in shares(|random| random.uniform(1, 10)) {
            assert!((share - 0.1).abs() < 0.005, "{share}");
        }
    }

    #[test]
    fn uniform_covers_extreme_ranges() {
        let mut random = random();
        for _ in 0..1000 {
            random.uniform(i64::MIN, -2);
            assert!(random.uniform(i64::MAX - 1, i64::MAX) >= i64::MAX - 1);
            assert_eq!(random.uniform(7, 7), 7);
        }
    }

    #[test]
    fn gaussian_is_highest_in_the_middle_and_symmetric() {
        let shares = shares(|random| random.gaussian(1, 10, 2.5));
        assert!(shares[4] > 0.17 && shares[0] < 0.03);
        assert!((shares[4] - shares[5]).abs() < 0.01 && (shares[0] - shares[9]).abs() < 0.005);
    }

    #[test]
    fn exponential_falls_by_the_same_factor() {
        let shares = shares(|random| random.exponential(1, 10, 5.0));
        for pair in shares.windows(2).take(6) {
            assert!((pair[0] / pair[1] - 0.5_f64.exp()).abs() < 0.25);
        }
    }

    #[test]
    fn zipfian_follows_its_law() {
        let shares = shares(|random| random.zipfian(1, 10, 1.5));
        assert!((shares[0] / shares[1] - 2.0_f64.powf(1.5)).abs() < 0.15);
        assert!((shares[0] / shares[3] - 4.0_f64.powf(1.5)).abs() < 0.6);
        assert!(shares[9] > 0.005);
    }

    /// Taken from pgbench 18 with `--random-seed 42`.
    #[test]
    fn a_script_draws_what_it_draws_in_pgbench() {
        let seeds = Seeds::derive(42, 1);
        assert_eq!(seeds.hash, 4_306_334_408_478_191_133);
        let mut random = seeds.script(0);
        assert_eq!(random.uniform(1, 1_000_000), 668_251);
        assert_eq!(random.gaussian(1, 1_000_000, 2.5), 776_020);
        assert_eq!(random.exponential(1, 1_000_000, 2.5), 22_118);
        assert_eq!(random.zipfian(1, 1_000_000, 1.2), 582);
    }

    #[test]
    fn a_seed_repeats_and_clients_and_purposes_differ() {
        let numbers = |mut random: Random| [(); 8].map(|()| random.uniform(1, 1_000_000));
        let draws = |seed, client| numbers(Seeds::derive(seed, 5).script(client));
        assert_eq!(draws(1, 2), draws(1, 2));
        assert_ne!(draws(1, 2), draws(1, 3));
        assert_ne!(draws(1, 2), draws(2, 2));
        assert_ne!(draws(1, 2), numbers(Random::new(1, 2, Purpose::Choice)));
    }
}
