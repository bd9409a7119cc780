//! Decides whether a semicolon ends a statement.
//!
//! Enters: the words and parentheses of one statement, in order. Leaves: whether the next
//! semicolon is outside parentheses and the body of an SQL function. Never: reads text.

#[derive(Default)]
pub struct Depth {
    parentheses: usize,
    words: usize,
    creates: bool,
    creates_function: bool,
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

    pub fn word(&mut self, word: &str) {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword);
        self.words += 1;
        if self.words == 1 {
            self.creates = is("create");
            self.creates_function = false;
        } else if self.creates && self.words <= 4 && (is("function") || is("procedure")) {
            self.creates_function = true;
        }
        if !self.creates_function || self.parentheses > 0 {
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
