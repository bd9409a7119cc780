//! Folded stacks as text, read line by line.
//!
//! Enters: that text. Leaves: frames and weights. Never: interprets a frame.

use crate::error::ProfileError;

/// Each stack, its frames outermost first, with its weight.
pub fn stacks(folded: &str) -> impl Iterator<Item = Result<(Vec<&str>, u64), ProfileError>> {
    folded
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(at, line)| {
            line.rsplit_once(' ')
                .and_then(|(frames, weight)| {
                    Some((frames.split(';').collect(), weight.parse().ok()?))
                })
                .ok_or(ProfileError::Stack { line: at + 1 })
        })
}
