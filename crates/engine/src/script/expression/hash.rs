//! Hashing and permutation of integers, the same as pgbench's for the same seed.
//!
//! Enters: an integer and a seed. Leaves: an integer. Never: keeps a state.

use rand_xoshiro::Xoroshiro128StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::random::below;

/// FNV-1a over the eight bytes of `value`, the lowest first.
#[must_use]
pub fn fnv1a(value: i64, seed: i64) -> i64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x100_0000_01b3;
    let start = OFFSET_BASIS ^ seed.cast_unsigned();
    let hash = value.to_le_bytes().iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    });
    hash.cast_signed()
}

/// MurmurHash2 (64-bit, Austin Appleby) of one eight-byte block.
#[must_use]
pub fn murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mut block = value.cast_unsigned().wrapping_mul(MULTIPLIER);
    block = (block ^ (block >> SHIFT)).wrapping_mul(MULTIPLIER);
    let mut hash = seed.cast_unsigned() ^ MULTIPLIER.wrapping_mul(8);
    hash = (hash ^ block).wrapping_mul(MULTIPLIER);
    hash = (hash ^ (hash >> SHIFT)).wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> SHIFT)).cast_signed()
}

/// A bijection of `0..size`; `size` must be above 0.
///
/// Six rounds: each scrambles the lower and the upper power of two of the range, which overlap,
/// and then rotates the whole range by a random offset.
#[must_use]
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    const ROUNDS: usize = 6;
    let size = size.cast_unsigned();
    if size < 2 {
        return 0;
    }
    let bits = size.ilog2();
    let mask = (1u64 << bits) - 1;
    let mut random = Xoroshiro128StarStar::seed_from_u64(seed.cast_unsigned());
    let mut place = value.cast_unsigned() % size;
    for _ in 0..ROUNDS {
        place = scrambled(place, &mut random, mask, bits);
        place = size - 1 - scrambled(size - 1 - place, &mut random, mask, bits);
        let offset = below(&mut random, size);
        // Both are below 2^63.
        place = (place + offset) % size;
    }
    place.cast_signed()
}

/// A bijection of `0..=mask`: multiplied by an odd number, XORed, rotated by one bit.
fn scrambled(place: u64, random: &mut impl Rng, mask: u64, bits: u32) -> u64 {
    // Always drawn, so that the sequence does not depend on the value.
    let multiplier = (random.next_u64() & mask) | 1;
    let flips = random.next_u64() & mask;
    if place > mask {
        return place;
    }
    let mixed = (place.wrapping_mul(multiplier) ^ flips) & mask;
    ((mixed << 1) & mask) | (mixed >> (bits - 1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_permutation_reaches_every_place_once() {
        for size in [1, 2, 3, 7, 8, 100, 1000] {
            for seed in [0, 1, -5] {
                let places: BTreeSet<_> = (0..size).map(|n| permute(n, size, seed)).collect();
                assert_eq!(places, (0..size).collect());
            }
        }
        assert!((0..i64::MAX).contains(&permute(-1, i64::MAX, 3)));
    }
}
