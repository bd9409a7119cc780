//! Draws the scenario that a client runs next.
//!
//! Enters: weights, in order of the scenarios. Leaves: an index, drawn in proportion to them.
//! Never: uses a random number if there is only one scenario.

use crate::random::Random;

#[derive(Debug, Clone)]
pub struct Mix {
    /// Running totals of the shares; the last is 1.
    bounds: Vec<f64>,
}

impl Mix {
    /// Weights must be finite, none negative, one above 0: `config` checks that.
    #[must_use]
    pub fn new(weights: &[f64]) -> Mix {
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let bounds = weights
            .iter()
            .map(|weight| {
                sum += weight / total;
                sum
            })
            .collect();
        Mix { bounds }
    }

    pub fn choose(&self, random: &mut Random) -> usize {
        if self.bounds.len() <= 1 {
            return 0;
        }
        let point = random.unit();
        // Rounding may leave the last bound below 1: then the last scenario with a weight is taken.
        self.bounds
            .iter()
            .position(|&bound| point < bound)
            .unwrap_or_else(|| self.last_with_weight())
    }

    fn last_with_weight(&self) -> usize {
        let total = self.bounds.last().copied().unwrap_or(0.0);
        self.bounds
            .iter()
            .position(|&bound| bound >= total)
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn shares_follow_weights_and_zero_is_never_chosen() {
        let mix = Mix::new(&[3.0, 0.0, 0.5, 1.5, 0.0]);
        let mut random = Random::new(7, 0, Purpose::Choice);
        let mut counts = [0u32; 5];
        for _ in 0..100_000 {
            counts[mix.choose(&mut random)] += 1;
        }
        assert_eq!((counts[1], counts[4]), (0, 0));
        for (count, share) in [(counts[0], 0.6), (counts[2], 0.1), (counts[3], 0.3)] {
            assert!((f64::from(count) / 100_000.0 - share).abs() < 0.01);
        }
    }

    #[test]
    fn a_single_scenario_is_chosen_without_a_draw() {
        let mut random = Random::new(7, 0, Purpose::Choice);
        let untouched = random.clone().unit();
        assert_eq!(Mix::new(&[0.1]).choose(&mut random), 0);
        assert_eq!(random.unit().to_bits(), untouched.to_bits());
    }

    #[test]
    fn rounding_never_falls_on_a_scenario_without_weight() {
        assert_eq!(Mix::new(&[0.1, 0.2, 0.0]).last_with_weight(), 1);
    }
}
