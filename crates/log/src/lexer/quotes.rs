//! The values of quoted constants.
//!
//! Enters: what stands between the quotes. Leaves: the value. Never: fails: what is no escape stays.

/// Two quotes are one.
pub(crate) fn undouble(text: &[u8], into: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\'', rest) {
        into.extend_from_slice(&rest[..=at]);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    into.extend_from_slice(rest);
}

/// The escapes of `E'…'`, and two quotes, which are one.
pub(super) fn unescape(text: &[u8], into: &mut Vec<u8>) {
    let mut at = 0;
    let digits = |from: usize, most: usize, radix: u32| {
        let count = text[from.min(text.len())..]
            .iter()
            .take(most)
            .take_while(|byte| char::from(**byte).is_digit(radix))
            .count();
        let digits = std::str::from_utf8(&text[from.min(text.len())..][..count]).ok();
        let value = digits.and_then(|digits| u32::from_str_radix(digits, radix).ok());
        (count, value)
    };
    while at < text.len() {
        let byte = text[at];
        at += 1;
        if byte == b'\'' {
            into.push(byte);
            at += 1;
            continue;
        }
        if byte != b'\\' || at >= text.len() {
            into.push(byte);
            continue;
        }
        let escape = text[at];
        at += 1;
        match escape {
            b'b' => into.push(8),
            b'f' => into.push(12),
            b'n' => into.push(b'\n'),
            b'r' => into.push(b'\r'),
            b't' => into.push(b'\t'),
            b'0'..=b'7' => {
                let (count, value) = digits(at - 1, 3, 8);
                at += count - 1;
                into.push(value.unwrap_or(0) as u8);
            }
            b'x' | b'u' | b'U' => {
                let most = match escape {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let (count, value) = digits(at, most, 16);
                at += count;
                match (value, escape) {
                    (None, _) => into.push(escape),
                    (Some(value), b'x') => into.push(value as u8),
                    (Some(value), _) => {
                        let sign = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                        into.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
            }
            other => into.push(other),
        }
    }
}
