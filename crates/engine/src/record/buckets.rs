//! Counts of durations by bucket, in two or three bytes for each bucket used.
//!
//! Enters: used buckets of the layout of [`histogram`](super::histogram), ascending. Leaves: them
//! again, and the sums of several. Never: has a bucket without a count.
//!
//! The layout is that of HDR histograms: buckets of 64 ns up to 131 µs, then 1024 in each power of
//! two. A bucket is written as the distance of its index from the one before and its count, each
//! in groups of seven bits. Reports of a long load so take few bytes in memory and on the way to
//! another host, and add up by index.

use std::slice;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Logarithms of the width of the first buckets, in ns, and of the buckets in a power of two.
const WIDTH_BITS: u32 = 6;
const HALF_BITS: u32 = 10;
/// So many buckets reach beyond an hour.
const COUNT: usize = 27 << HALF_BITS;

/// Used buckets and their counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buckets(Box<[u8]>);

impl Buckets {
    /// Of values and their counts; the values ascend from bucket to bucket.
    pub fn of(counts: impl Iterator<Item = (u64, u64)>) -> Buckets {
        Buckets::packed(counts.map(|(value, count)| (index(value), count)))
    }

    fn packed(counts: impl Iterator<Item = (usize, u64)>) -> Buckets {
        let mut bytes = Vec::new();
        let mut next = 0;
        for (index, count) in counts {
            write(&mut bytes, index.saturating_sub(next) as u64);
            write(&mut bytes, count);
            next = index + 1;
        }
        Buckets(bytes.into_boxed_slice())
    }

    /// The highest value of each used bucket, ascending, and its count.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.indexes().map(|(index, count)| (highest(index), count))
    }

    fn indexes(&self) -> Indexes<'_> {
        Indexes {
            bytes: self.0.iter(),
            next: 0,
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Buckets, D::Error> {
        Ok(Buckets(<&[u8]>::deserialize(deserializer)?.into()))
    }
}

/// Indexes of used buckets and their counts. What is damaged ends it, or counts elsewhere.
struct Indexes<'b> {
    bytes: slice::Iter<'b, u8>,
    next: usize,
}

impl Iterator for Indexes<'_> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        let distance = read(&mut self.bytes)?;
        let count = read(&mut self.bytes)?;
        let index = self.next + distance.min(COUNT as u64) as usize;
        self.next = index + 1;
        (index < COUNT).then_some((index, count))
    }
}

fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read(bytes: &mut slice::Iter<'_, u8>) -> Option<u64> {
    let first = *bytes.next()?;
    if first < 0x80 {
        return Some(first.into());
    }
    let mut number = u64::from(first & 0x7f);
    for shift in (7..u64::BITS).step_by(7) {
        let byte = *bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// The index of a value's bucket; the last one takes what is beyond the layout.
fn index(value: u64) -> usize {
    let widths = value >> WIDTH_BITS;
    let doubled = (u64::BITS - widths.leading_zeros()).saturating_sub(HALF_BITS + 1);
    (((doubled as usize) << HALF_BITS) + (widths >> doubled) as usize).min(COUNT - 1)
}

/// The highest value of a bucket.
fn highest(index: usize) -> u64 {
    let doubled = (index >> HALF_BITS).saturating_sub(1);
    let widths = (index - (doubled << HALF_BITS)) as u64;
    ((widths + 1) << (doubled as u32 + WIDTH_BITS)) - 1
}

/// Adds up the counts of many.
pub struct BucketSums {
    counts: Vec<u64>,
    /// Where they may be above 0.
    start: usize,
    end: usize,
}

impl BucketSums {
    #[must_use]
    pub fn new() -> BucketSums {
        BucketSums {
            counts: vec![0; COUNT],
            start: COUNT,
            end: 0,
        }
    }

    pub fn add(&mut self, buckets: &Buckets) {
        let mut indexes = buckets.indexes().peekable();
        if let Some((first, _)) = indexes.peek() {
            self.start = self.start.min(*first);
        }
        let mut last = 0;
        for (index, count) in indexes {
            last = index;
            if let Some(sum) = self.counts.get_mut(index) {
                *sum = sum.saturating_add(count);
            }
        }
        self.end = self.end.max(last + 1);
    }

    /// The sums so far; those to come begin anew.
    pub fn take(&mut self) -> Buckets {
        let (start, end) = (self.start, self.end);
        (self.start, self.end) = (COUNT, 0);
        let used = self.counts.get_mut(start..end).unwrap_or_default();
        let used = used.iter_mut().zip(start..);
        let used = used.map(|(count, index)| (index, std::mem::take(count)));
        Buckets::packed(used.filter(|(_, count)| *count > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::{HIGHEST_NS, histogram};
    use super::*;

    /// Values on both sides of every edge of a power of two, and some between.
    fn values() -> impl Iterator<Item = u64> {
        let powers = (0..42).flat_map(|power| [1 << power, (1 << power) - 1, 3 << power]);
        powers.filter(|value| *value <= HIGHEST_NS)
    }

    #[test]
    fn buckets_are_those_of_the_histogram() {
        let layout = histogram::<u64>().unwrap();
        assert_eq!(layout.distinct_values(), COUNT);
        for value in values() {
            assert_eq!(highest(index(value)), layout.highest_equivalent(value));
        }
        assert_eq!(index(u64::MAX), COUNT - 1);
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let mut sorted: Vec<_> = values().map(|value| highest(index(value))).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let counts: Vec<_> = sorted
            .into_iter()
            .zip([1, 127, 128, u64::MAX].into_iter().cycle())
            .collect();
        let buckets = Buckets::of(counts.iter().copied());
        assert_eq!(buckets.iter().collect::<Vec<_>>(), counts);
        let few = Buckets::of((0..100).map(|n| (100_000 + 64 * n, 5)));
        assert!(few.0.len() <= 202, "{}", few.0.len());
    }

    #[test]
    fn sums_begin_anew_after_each() {
        let of = |counts: &[(u64, u64)]| Buckets::of(counts.iter().copied());
        let mut sums = BucketSums::new();
        for _ in 0..2 {
            sums.add(&of(&[(63, 1), (127, 2)]));
            sums.add(&Buckets::default());
            sums.add(&of(&[(127, 5), (262_143, 3)]));
            assert_eq!(sums.take(), of(&[(63, 1), (127, 7), (262_143, 3)]));
            assert!(sums.take().is_empty());
        }
    }

    #[test]
    fn damaged_bytes_do_no_harm() {
        for bytes in [&[0x80][..], &[0xff; 30], &[5], &[0xff, 0xff, 0x7f, 1, 1, 1]] {
            let buckets = Buckets(bytes.into());
            assert_eq!(buckets.iter().count(), 0);
            let mut sums = BucketSums::new();
            sums.add(&buckets);
            assert!(sums.take().is_empty());
        }
    }
}
