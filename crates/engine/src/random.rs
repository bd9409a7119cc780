//! The random numbers of one client.
//!
//! Enters: the seed of the load and a client's number. Leaves: pgbench's four distributions over
//! integers. Never: touches a source that another client or thread shares, so a seed reproduces
//! every client's sequence whatever the timing.

use std::f64::consts::TAU;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// The smallest parameter `random_gaussian` takes, as in pgbench.
pub const GAUSSIAN_MIN: f64 = 2.0;
/// The range of the parameter of `random_zipfian`, as in pgbench.
pub const ZIPFIAN_RANGE: std::ops::RangeInclusive<f64> = 1.001..=1000.0;

/// What a sequence is for. Scenarios are chosen from one of their own, so that the mix does not
/// change when a script draws one number more.
#[derive(Clone, Copy)]
pub enum Purpose {
    Choice = 1,
    Script = 2,
    Arrival = 3,
    Think = 4,
    Sample = 5,
}

#[derive(Debug, Clone)]
pub struct Random(Pcg64Mcg);

impl Random {
    #[must_use]
    pub fn new(seed: u64, client: usize, purpose: Purpose) -> Random {
        // Neighbouring seeds and clients must not give neighbouring states.
        let mut state = scramble(seed);
        state = scramble(state ^ (client as u64));
        state = scramble(state ^ ((purpose as u64) << 56));
        Random(Pcg64Mcg::seed_from_u64(state))
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * SCALE
    }

    /// Uniform in `(0, 1]`, for logarithms.
    fn positive_unit(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Exponential with a mean of 1: the gaps of a Poisson process.
    pub fn gap(&mut self) -> f64 {
        -self.positive_unit().ln()
    }

    /// Uniform in `min..=max`; `min` where the range is empty.
    pub fn uniform(&mut self, min: i64, max: i64) -> i64 {
        if max <= min {
            return min;
        }
        let span = max.wrapping_sub(min).cast_unsigned();
        let Some(count) = span.checked_add(1) else {
            return self.0.next_u64().cast_signed();
        };
        // Lemire's multiplication method; the rejected part keeps it unbiased.
        let threshold = count.wrapping_neg() % count;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(count);
            if product as u64 >= threshold {
                return min.wrapping_add(((product >> 64) as u64).cast_signed());
            }
        }
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
        let count = max.wrapping_sub(min) as f64 + 1.0;
        if count <= 1.0 {
            return min;
        }
        // Rejection, after Devroye, "Non-Uniform Random Variate Generation", X.6.1.
        let b = (s - 1.0).exp2();
        loop {
            let u = self.positive_unit();
            let v = self.unit();
            let x = u.powf(-1.0 / (s - 1.0)).floor();
            if x > count {
                continue;
            }
            let t = (1.0 + 1.0 / x).powf(s - 1.0);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b {
                return min.wrapping_add((x as i64) - 1).min(max);
            }
        }
    }
}

/// The value at `fraction` of the range.
fn spread(min: i64, max: i64, fraction: f64) -> i64 {
    let count = max.wrapping_sub(min) as f64 + 1.0;
    min.wrapping_add((count * fraction) as i64).clamp(min, max)
}

/// The finishing step of SplitMix64.
fn scramble(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed derived from the load's, for pgbench's `default_seed`: never negative.
#[must_use]
pub fn derived_seed(seed: u64) -> i64 {
    (scramble(!seed) >> 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random() -> Random {
        Random::new(42, 0, Purpose::Script)
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
            random.uniform(i64::MIN, i64::MAX);
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

    #[test]
    fn a_seed_repeats_and_clients_and_purposes_differ() {
        let draws = |seed, client, purpose| {
            let mut random = Random::new(seed, client, purpose);
            [(); 8].map(|()| random.uniform(1, 1_000_000))
        };
        assert_eq!(draws(1, 2, Purpose::Script), draws(1, 2, Purpose::Script));
        assert_ne!(draws(1, 2, Purpose::Script), draws(1, 3, Purpose::Script));
        assert_ne!(draws(1, 2, Purpose::Script), draws(2, 2, Purpose::Script));
        assert_ne!(draws(1, 2, Purpose::Script), draws(1, 2, Purpose::Choice));
    }
}
