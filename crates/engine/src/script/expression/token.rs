//! Tokens of the expression language of `\set`, `\if` and `\elif`.
//!
//! Enters: the text of an expression. Leaves: tokens with their offsets in the script. Never:
//! checks the order of tokens.

use pgassay_session::shown;

use crate::script::bytes::ascii;
use crate::script::problem::Problem;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// Unsigned: `-9223372036854775808` is a minus and 2^63.
    Int(u64),
    Double(f64),
    Variable(&'a [u8]),
    /// A function's name or a keyword.
    Word(&'a [u8]),
    Symbol(&'static str),
    End,
}

/// Two-character symbols come before their first characters.
const SYMBOLS: [&str; 21] = [
    "<>", "!=", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%", "(", ")", ",", "=", "<", ">", "|",
    "&", "#", "~",
];

pub struct Tokens<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Tokens<'a> {
    /// `text` begins at `offset` of the script.
    pub fn new(text: &'a [u8], offset: usize) -> Tokens<'a> {
        Tokens { rest: text, offset }
    }

    /// The next token and its offset; always `End` at the end.
    pub fn next_token(&mut self) -> Result<(Token<'a>, usize), Problem> {
        self.skip_space();
        let offset = self.offset;
        let token = match self.rest {
            [] => Token::End,
            [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => self.number()?,
            [b':', next, ..] if is_word(*next) => {
                let length = 1 + word_length(self.rest.get(1..).unwrap_or_default());
                Token::Variable(self.take(length).get(1..).unwrap_or_default())
            }
            [first, ..] if begins_word(*first) => Token::Word(self.take(word_length(self.rest))),
            _ => self.symbol()?,
        };
        Ok((token, offset))
    }

    fn symbol(&mut self) -> Result<Token<'a>, Problem> {
        let symbol = SYMBOLS
            .iter()
            .find(|symbol| self.rest.starts_with(symbol.as_bytes()));
        match symbol {
            Some(symbol) => {
                self.take(symbol.len());
                Ok(Token::Symbol(symbol))
            }
            None => {
                let found = shown(self.rest).chars().next().unwrap_or(' ');
                let shown = if found.is_control() {
                    found.escape_default().to_string()
                } else {
                    found.to_string()
                };
                let problem = format!("unexpected character ({shown})");
                Err(Problem::new(self.offset, problem))
            }
        }
    }

    fn number(&mut self) -> Result<Token<'a>, Problem> {
        let bytes = self.rest;
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
        let offset = self.offset;
        let text = ascii(self.take(length));
        if is_double {
            match text.parse::<f64>() {
                // A number that underflows to zero is refused too, unless it is written as 0.
                Ok(value) if value.is_normal() || is_zero(text) => Ok(Token::Double(value)),
                _ => {
                    let problem = format!("double constant overflow ({text})");
                    Err(Problem::new(offset, problem))
                }
            }
        } else {
            match text.parse::<u64>() {
                Ok(value) if value <= 1 << 63 => Ok(Token::Int(value)),
                _ => {
                    let problem = format!("bigint constant overflow ({text})");
                    Err(Problem::new(offset, problem))
                }
            }
        }
    }

    fn skip_space(&mut self) {
        loop {
            match self.rest {
                [b' ' | b'\t' | b'\r' | b'\n' | b'\x0b' | b'\x0c', ..] => {
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

    /// Takes this many bytes.
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, b""));
        self.rest = rest;
        self.offset += taken.len();
        taken
    }
}

fn is_zero(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    mantissa.bytes().all(|b| matches!(b, b'0' | b'.'))
}

/// A byte of a variable's name: also any byte of a character beyond ASCII, as in pgbench.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Whether a variable's name may begin with this byte; not a digit, so that `12:30` or `a[1:2]`
/// stay unchanged.
pub fn begins_word(byte: u8) -> bool {
    is_word(byte) && !byte.is_ascii_digit()
}

pub fn word_length(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| is_word(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<(Token<'_>, usize)>, Problem> {
        let mut tokens = Tokens::new(text.as_bytes(), 10);
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
                Token::Word(b"e"),
                Token::Word(b"x"),
                Token::Variable("é1".as_bytes()),
                Token::Symbol("<="),
                Token::Symbol("<>"),
                Token::Symbol("("),
            ]
        );
    }

    #[test]
    fn offsets_are_those_of_the_script() {
        let found = tokens("1 \\\n + \\\r\n 22").unwrap();
        let offsets: Vec<_> = found.iter().map(|(_, offset)| *offset).collect();
        assert_eq!(offsets, [10, 15, 21]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(tokens("9223372036854775808 0.0 0e-999").is_ok());
        assert!(tokens("9223372036854775809").is_err());
        assert!(tokens("1e999").is_err() && tokens("1e-999").is_err());
        assert_eq!(tokens("1 \\\n ?").unwrap_err().offset, 15);
    }
}
