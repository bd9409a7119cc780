//! Times as a log writes them.
//!
//! Enters: the bytes of `2026-11-27 16:19:52.123 UTC`, or of `%n`. Leaves: microseconds since 1970
//! as if the log's zone were UTC. Never: asks what a zone's abbreviation means: only differences of
//! times within a log are used.

const DATE_AND_TIME: usize = 19;

/// Reads times; of successive ones within a second the date is read once.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    second: Vec<u8>,
    second_us: i64,
}

impl Stamps {
    /// The time at the start of `text`, and the length of its digits (without the zone).
    pub(crate) fn read(&mut self, text: &[u8]) -> Option<(i64, usize)> {
        let whole = text.get(..DATE_AND_TIME)?;
        if self.second != whole {
            self.second_us = seconds(whole)?.checked_mul(1_000_000)?;
            self.second.clear();
            self.second.extend_from_slice(whole);
        }
        if text.get(DATE_AND_TIME) != Some(&b'.') {
            return Some((self.second_us, DATE_AND_TIME));
        }
        let digits = text[DATE_AND_TIME + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
            .min(6);
        let mut fraction = 0;
        for place in 0..6 {
            let digit = (place < digits).then(|| text[DATE_AND_TIME + 1 + place] - b'0');
            fraction = fraction * 10 + i64::from(digit.unwrap_or(0));
        }
        Some((self.second_us + fraction, DATE_AND_TIME + 1 + digits))
    }
}

/// Whether a line begins as an entry of csvlog does.
pub(crate) fn begins_with_stamp(line: &[u8]) -> bool {
    line.get(..DATE_AND_TIME).and_then(seconds).is_some()
}

/// `%n`: seconds with milliseconds.
pub(crate) fn epoch(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let (seconds, fraction) = text.split_once('.')?;
    let seconds: i64 = seconds.parse().ok()?;
    let millis: i64 = fraction.parse().ok()?;
    seconds
        .checked_mul(1_000_000)?
        .checked_add(millis.checked_mul(1000)?)
}

fn seconds(text: &[u8]) -> Option<i64> {
    let number = |from: usize, to: usize| {
        text[from..to].iter().try_fold(0_i64, |sum, byte| {
            byte.is_ascii_digit()
                .then(|| sum * 10 + i64::from(byte - b'0'))
        })
    };
    let signs = [(4, b'-'), (7, b'-'), (10, b' '), (13, b':'), (16, b':')];
    if signs.iter().any(|&(at, sign)| text[at] != sign) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 {
        return None;
    }
    // Days of the civil calendar since 1970, with years that begin in March.
    let shifted = year - i64::from(month <= 2);
    let era = shifted.div_euclid(400);
    let of_era = shifted - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_microseconds_since_1970() {
        let mut stamps = Stamps::default();
        let known = 1_795_796_392_123_000;
        let read = stamps.read(b"2026-11-27 16:19:52.123 UTC");
        assert_eq!(read, Some((known, 23)));
        assert_eq!(
            stamps.read(b"2026-11-27 16:19:52 CET"),
            Some((known - 123_000, 19))
        );
        assert_eq!(epoch(b"1795796392.123"), Some(known));
        assert_eq!(stamps.read(b"2026-13-27 16:19:52 UTC"), None);
        assert_eq!(stamps.read(b"short"), None);
    }
}
