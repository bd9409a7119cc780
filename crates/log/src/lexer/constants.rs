//! Constants and parameters: which of them become marks, and with what value.
//!
//! Enters: a scanner at a constant. Leaves: the scanner behind it, a mark and a value, or the constant
//! as it is where the grammar takes nothing else. Never: looks at more than the words before it.

use super::quotes::{undouble, unescape};
use super::words::{BEFORE_EXPRESSIONS, FIELDS_OF_INTERVALS};
use super::{Before, Constant, MARK, Scanner, Tag, is_word};

impl Scanner<'_> {
    pub(super) fn parameter(&mut self) {
        let begin = self.at;
        self.at += 1;
        let digits = self.text[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        self.at += digits.count();
        let number = std::str::from_utf8(&self.text[begin + 1..self.at]).ok();
        let number = number
            .and_then(|digits| digits.parse::<u16>().ok())
            .unwrap_or(0);
        self.out.parameters = self.out.parameters.max(usize::from(number));
        self.verbatim(begin);
    }

    pub(super) fn dollar_quoted(&mut self) {
        let begin = self.at;
        let tag = self.text[begin + 1..]
            .iter()
            .take_while(|byte| is_word(**byte) && **byte != b'$');
        let tag_end = begin + 1 + tag.count();
        if self.text.get(tag_end) != Some(&b'$') {
            return self.sign(b'$');
        }
        let quote = &self.text[begin..=tag_end];
        let body = tag_end + 1;
        let length = memchr::memmem::find(&self.text[body..], quote);
        let end = length.map_or(self.text.len(), |length| body + length);
        self.at = (end + quote.len()).min(self.text.len());
        let place = self.out.values.len();
        self.out.values.extend_from_slice(&self.text[body..end]);
        self.text_constant(begin, place);
    }

    /// A string whose opening quote is at `quote`.
    pub(super) fn quoted(&mut self, quote: usize, escapes: bool) {
        let begin = if escapes { quote - 1 } else { quote };
        self.at = quote + 1;
        self.skip_quoted(b'\'', escapes);
        let inner = &self.text[quote + 1..(self.at - 1).max(quote + 1)];
        let place = self.out.values.len();
        if escapes {
            unescape(inner, &mut self.out.values);
        } else {
            undouble(inner, &mut self.out.values);
        }
        self.text_constant(begin, place);
    }

    /// A text whose value begins at `place`; what stands before it may say that it is typed.
    pub(super) fn text_constant(&mut self, begin: usize, place: usize) {
        let typed = match self.before {
            Before::Closed | Before::Operand => return self.leave(begin, place),
            Before::Opened if self.was_opened_by("extract") => return self.leave(begin, place),
            Before::Word(from, to) if !self.is_one_of((from, to), BEFORE_EXPRESSIONS) => (from, to),
            Before::Word(from, to) if self.is_one_of((from, to), &["zone"]) => {
                // AT TIME ZONE 'UTC', or timestamp with time zone '…'
                let words: &[u8] = &self.out.template[..from];
                let words = words.to_ascii_lowercase();
                if words.ends_with(b"with time ") || words.ends_with(b"without time ") {
                    return self.leave(begin, place);
                }
                return self.mark(Tag::Text, place);
            }
            _ => return self.mark(Tag::Text, place),
        };
        let rest = self.text[self.at..].trim_ascii_start();
        let next: Vec<u8> = rest
            .iter()
            .copied()
            .take_while(|byte| is_word(*byte))
            .collect();
        if FIELDS_OF_INTERVALS
            .iter()
            .any(|field| next.eq_ignore_ascii_case(field.as_bytes()))
        {
            return self.leave(begin, place);
        }
        let mut from = typed.0;
        // pg_catalog.date '…'
        let is_of_name = |byte: &u8| is_word(*byte) || matches!(*byte, b'.' | b'"');
        while from > 0 && is_of_name(&self.out.template[from - 1]) {
            from -= 1;
        }
        let name = self.out.template[from..typed.1].to_vec();
        self.out.template.truncate(from);
        self.out.template.extend_from_slice(b"CAST(");
        self.mark(Tag::Text, place);
        self.out.template.extend_from_slice(b" AS ");
        self.out.template.extend_from_slice(&name);
        self.out.template.push(b')');
        self.before = Before::Closed;
    }

    pub(super) fn was_opened_by(&self, word: &str) -> bool {
        self.opened_by
            .is_some_and(|place| self.is_one_of(place, &[word]))
    }

    /// A constant stays in its place.
    pub(super) fn leave(&mut self, begin: usize, place: usize) {
        self.out.values.truncate(place);
        self.verbatim(begin);
    }

    pub(super) fn number(&mut self, begin: usize) {
        let rest = &self.text[self.at..];
        let of_number = |(index, byte): (usize, u8)| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'_')
                || (matches!(byte, b'+' | b'-')
                    && matches!(rest[index.saturating_sub(1)], b'e' | b'E')
                    && !rest.starts_with(b"0x"))
        };
        let length = rest
            .iter()
            .copied()
            .enumerate()
            .take_while(|pair| of_number(*pair))
            .count();
        let length = match memchr::memmem::find(&rest[..length], b"..") {
            Some(dots) => dots.max(1),
            None => length,
        };
        self.at += length;
        let next = self.text[self.at..].trim_ascii_start().first();
        let positional = self.in_list && matches!(self.before, Before::Comma | Before::Word(..));
        let in_slice = self.square > 0
            && (self.out.template.trim_ascii_end().ends_with(b":") || next == Some(&b':'));
        if self.in_modifiers || positional || in_slice {
            return self.verbatim(begin);
        }
        let place = self.out.values.len();
        self.out
            .values
            .extend_from_slice(&self.text[begin..self.at]);
        self.mark(Tag::Number, place);
    }

    pub(super) fn mark(&mut self, tag: Tag, begin: usize) {
        let end = self.out.values.len();
        self.out.constants.push(Constant { tag, begin, end });
        self.push(MARK, Before::Operand);
    }
}
