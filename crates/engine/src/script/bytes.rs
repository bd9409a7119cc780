//! What slices of bytes lack of a text's methods.
//!
//! Enters: pieces of scripts. Leaves: places and texts in them. Never: assumes an encoding: bytes
//! beyond ASCII are neither space nor punctuation, as in pgbench.

/// Where `wanted` begins in `text`.
pub fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let (first, rest) = wanted.split_first()?;
    let mut at = 0;
    loop {
        let after = text.get(at..)?;
        at += after.iter().position(|byte| byte == first)? + 1;
        if text.get(at..)?.starts_with(rest) {
            return Some(at - 1);
        }
    }
}

pub fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

pub fn trim_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| !is_space(byte));
    text.get(..end.map_or(0, |last| last + 1)).unwrap_or(text)
}

/// Digits, signs and the like; empty where there is anything beyond ASCII.
pub fn ascii(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}
