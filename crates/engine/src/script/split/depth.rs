//! Decides whether a semicolon ends a statement.
//!
//! Enters: the words and parentheses of one statement, in order. Leaves: whether the next
//! semicolon is outside parentheses and the body of an SQL function. Never: reads text.

/// Words that may begin the definition of a function; psql knows them by their first letters.
const BEGINNING: [&str; 5] = ["create", "or", "replace", "function", "procedure"];

#[derive(Default)]
pub struct Depth {
    parentheses: usize,
    words: usize,
    /// The first letters of the first words, where those are of `BEGINNING`.
    first: [u8; 4],
    blocks: usize,
}

impl Depth {
    /// Starts another statement of the same command.
    pub fn restart(&mut self) {
        self.words = 0;
    }

    pub fn is_outside(&self) -> bool {
        self.parentheses == 0 && self.blocks == 0
    }

    pub fn parenthesis(&mut self, opens: bool) {
        self.parentheses = if opens {
            self.parentheses + 1
        } else {
            self.parentheses.saturating_sub(1)
        };
    }

    pub fn word(&mut self, word: &[u8]) {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if self.words == 0 {
            self.first = Default::default();
        }
        if let Some(place) = self.first.get_mut(self.words)
            && let Some(keyword) = BEGINNING.iter().find(|keyword| is(keyword))
        {
            *place = keyword.bytes().next().unwrap_or_default();
        }
        self.words += 1;
        let defines = matches!(
            self.first,
            [b'c', b'f' | b'p', ..] | [b'c', b'o', b'r', b'f' | b'p']
        );
        if !defines || self.parentheses > 0 {
            return;
        }
        // BEGIN ATOMIC … END, with CASE … END inside.
        if is("begin") || (is("case") && self.blocks > 0) {
            self.blocks += 1;
        } else if is("end") {
            self.blocks = self.blocks.saturating_sub(1);
        }
    }
}
