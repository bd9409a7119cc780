//! Text of a server or of a user that may be in any encoding, made readable.
//!
//! Enters: bytes. Leaves: text; each byte that is not UTF-8 as `\xe9`, which keeps different names
//! different. Never: fails.

use std::borrow::Cow;
use std::fmt::Write;

/// The bytes for people and for files in UTF-8.
#[must_use]
pub fn shown(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf_8_are_shown_by_number() {
        for (bytes, text) in [
            (&b"abc"[..], "abc"),
            ("é".as_bytes(), "é"),
            (b"caf\xe9", "caf\\xe9"),
            (b"\xe4\xb8x\xff", "\\xe4\\xb8x\\xff"),
        ] {
            assert_eq!(shown(bytes), text);
        }
    }
}
