//! Tokens of the expression language of `\set`.
//!
//! Enters: the text after a variable's name. Leaves: tokens with the line each stands on.
//! Never: knows which order of tokens makes sense.

/// A number of the script that does not fit, or a character that belongs to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadToken {
    pub line: usize,
    pub problem: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// Unsigned: `-9223372036854775808` is a minus and 2^63.
    Int(u64),
    Double(f64),
    Variable(&'a str),
    /// A function's name or a keyword.
    Word(&'a str),
    Symbol(&'static str),
    End,
}

/// Two-character symbols come before their first characters.
const SYMBOLS: [&str; 20] = [
    "<>", "!=", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%", "(", ")", ",", "=", "<", ">", "|",
    "&", "#",
];

pub struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str, line: usize) -> Tokens<'a> {
        Tokens { rest: text, line }
    }

    /// The next token and its line; `End` again and again at the end.
    pub fn next_token(&mut self) -> Result<(Token<'a>, usize), BadToken> {
        self.skip_space();
        let line = self.line;
        let token = match self.rest.as_bytes() {
            [] => Token::End,
            [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => self.number()?,
            [b':', next, ..] if is_word(*next) => {
                let length = 1 + word_length(self.rest.get(1..).unwrap_or_default());
                Token::Variable(self.take(length).get(1..).unwrap_or_default())
            }
            [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => {
                Token::Word(self.take(word_length(self.rest)))
            }
            [b'~', ..] => {
                self.take(1);
                Token::Symbol("~")
            }
            _ => {
                let symbol = SYMBOLS
                    .iter()
                    .find(|symbol| self.rest.starts_with(**symbol));
                match symbol {
                    Some(symbol) => {
                        self.take(symbol.len());
                        Token::Symbol(symbol)
                    }
                    None => {
                        let found = self.rest.chars().next().unwrap_or(' ');
                        return Err(self.bad(format!("unexpected character {found:?}")));
                    }
                }
            }
        };
        Ok((token, line))
    }

    fn number(&mut self) -> Result<Token<'a>, BadToken> {
        let bytes = self.rest.as_bytes();
        let digits = |from: usize| {
            bytes
                .iter()
                .skip(from)
                .take_while(|b| b.is_ascii_digit())
                .count()
        };
        let mut length = digits(0);
        let mut is_double = false;
        if bytes.get(length) == Some(&b'.') {
            is_double = true;
            length += 1 + digits(length + 1);
        }
        if matches!(bytes.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                is_double = true;
                length += 1 + sign + exponent;
            }
        }
        let text = self.take(length);
        if is_double {
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Token::Double(value)),
                _ => Err(self.bad(format!("the double {text} is out of range"))),
            }
        } else {
            match text.parse::<u64>() {
                Ok(value) if value <= 1 << 63 => Ok(Token::Int(value)),
                _ => Err(self.bad(format!("the integer {text} is out of range"))),
            }
        }
    }

    fn skip_space(&mut self) {
        loop {
            match self.rest.as_bytes() {
                [b'\n', ..] => {
                    self.line += 1;
                    self.take(1);
                }
                [b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c', ..] => {
                    self.take(1);
                }
                // A backslash before the end of a line continues the command on the next.
                [b'\\', b'\n', ..] | [b'\\', b'\r', b'\n', ..] => {
                    self.take(1);
                }
                _ => return,
            }
        }
    }

    /// Takes bytes that have been seen to end at a character's end.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn bad(&self, problem: String) -> BadToken {
        BadToken {
            line: self.line,
            problem,
        }
    }
}

/// A byte of a variable's name: also any byte of a character beyond ASCII, as in pgbench.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

pub fn word_length(text: &str) -> usize {
    text.bytes().take_while(|&byte| is_word(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<(Token<'_>, usize)>, BadToken> {
        let mut tokens = Tokens::new(text, 1);
        let mut found = Vec::new();
        loop {
            match tokens.next_token()? {
                (Token::End, _) => return Ok(found),
                token => found.push(token),
            }
        }
    }

    #[test]
    fn numbers_names_and_symbols_are_told_apart() {
        let found: Vec<_> = tokens("1 .5 2.e3 3e x:é1<=<>(")
            .unwrap()
            .into_iter()
            .map(|(token, _)| token)
            .collect();
        assert_eq!(
            found,
            [
                Token::Int(1),
                Token::Double(0.5),
                Token::Double(2000.0),
                Token::Int(3),
                Token::Word("e"),
                Token::Word("x"),
                Token::Variable("é1"),
                Token::Symbol("<="),
                Token::Symbol("<>"),
                Token::Symbol("("),
            ]
        );
    }

    #[test]
    fn continued_lines_are_counted() {
        let lines: Vec<_> = tokens("1 \\\n + \\\r\n 2").unwrap();
        assert_eq!(
            lines.iter().map(|(_, line)| *line).collect::<Vec<_>>(),
            [1, 2, 3]
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(tokens("9223372036854775808").is_ok());
        assert!(tokens("9223372036854775809").is_err());
        assert!(tokens("1e999").is_err());
        assert_eq!(tokens("1 \\\n ?").unwrap_err().line, 2);
    }
}
