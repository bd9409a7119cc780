//! The words of a meta command, separated by space.
//!
//! Enters: the text after the backslash. Leaves: words with their offsets in the script. Never:
//! handles quotes, which pgbench does not have here.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    pub text: &'a str,
    pub offset: usize,
}

pub struct Words<'a> {
    text: &'a str,
    at: usize,
    /// Offset of `text` in the script.
    offset: usize,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str, offset: usize) -> Words<'a> {
        Words {
            text,
            at: 0,
            offset,
        }
    }

    /// The text after the words taken so far, and its offset in the script.
    pub fn rest(&self) -> (&'a str, usize) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        (rest, self.offset + self.at)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let (mut rest, _) = self.rest();
        loop {
            rest = rest.trim_ascii_start().trim_start_matches('\x0b');
            // A backslash at the end of a line counts as space.
            match rest.strip_prefix('\\') {
                Some(next) if next.starts_with(['\n', '\r']) => rest = next,
                _ => break,
            }
        }
        let begin = self.text.len() - rest.len();
        let is_space = |c: char| c.is_ascii_whitespace() || c == '\x0b';
        let end = rest.find(is_space).unwrap_or(rest.len());
        let mut word = rest.get(..end).unwrap_or_default();
        if rest
            .get(end..)
            .is_some_and(|next| next.starts_with('\n') || next.starts_with("\r\n"))
        {
            word = word.strip_suffix('\\').unwrap_or(word);
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
        let mut words = Words::new(" set x\\\n  1 \\\r\n+ a\\b", 100);
        let found: Vec<_> = words.by_ref().map(|w| (w.text, w.offset)).collect();
        let expected = [
            ("set", 101),
            ("x", 105),
            ("1", 110),
            ("+", 115),
            ("a\\b", 117),
        ];
        assert_eq!(found, expected);
        assert_eq!(words.rest(), ("", 120));
        assert_eq!(Words::new(" \t\r", 0).next(), None);
    }
}
