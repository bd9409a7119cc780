//! The words of a meta command, separated by space.
//!
//! Enters: the text after the backslash. Leaves: words with their offsets in the script. Never:
//! handles quotes, which pgbench does not have here.

use super::bytes::is_space;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    pub text: &'a [u8],
    pub offset: usize,
}

pub struct Words<'a> {
    text: &'a [u8],
    at: usize,
    /// Offset of `text` in the script.
    offset: usize,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a [u8], offset: usize) -> Words<'a> {
        Words {
            text,
            at: 0,
            offset,
        }
    }

    /// The text after the words taken so far, and its offset in the script.
    pub fn rest(&self) -> (&'a [u8], usize) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        (rest, self.offset + self.at)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let (mut rest, _) = self.rest();
        loop {
            // A backslash at the end of a line counts as space.
            match rest {
                [byte, next @ ..] if is_space(*byte) => rest = next,
                [b'\\', next @ ..] if matches!(next, [b'\n' | b'\r', ..]) => rest = next,
                _ => break,
            }
        }
        let begin = self.text.len() - rest.len();
        let end = rest.iter().position(|&byte| is_space(byte));
        let end = end.unwrap_or(rest.len());
        let mut word = rest.get(..end).unwrap_or_default();
        if rest
            .get(end..)
            .is_some_and(|next| next.starts_with(b"\n") || next.starts_with(b"\r\n"))
        {
            word = word.strip_suffix(b"\\").unwrap_or(word);
        }
        self.at = begin + word.len();
        (!word.is_empty()).then_some(Word {
            text: word,
            offset: self.offset + begin,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_space_and_continuations() {
        let mut words = Words::new(b" set x\\\n  1 \\\r\n+ a\\b", 100);
        let found: Vec<_> = words.by_ref().map(|w| (w.text, w.offset)).collect();
        let expected = [
            (&b"set"[..], 101),
            (b"x", 105),
            (b"1", 110),
            (b"+", 115),
            (b"a\\b", 117),
        ];
        assert_eq!(found, expected);
        assert_eq!(words.rest(), (&b""[..], 120));
        assert_eq!(Words::new(b" \t\r", 0).next(), None);
    }
}
