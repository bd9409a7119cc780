//! The grammar of expressions: precedence climbing over tokens.
//!
//! Enters: tokens. Leaves: an [`Expression`]. Never: evaluates; a depth limit keeps hostile
//! input from exhausting the stack.

use pgassay_session::shown;

use super::Expression;
use super::function::{Function, find};
use super::token::{Token, Tokens};
use super::value::Value;
use crate::script::problem::Problem;
use crate::script::variables::Names;

/// Larger than any script that a person writes, small enough for a thread's stack.
const MOST_NESTING: usize = 64;
const MOST_NODES: usize = 1000;

/// Operator precedence as in pgbench: NOT is lower than IS and the comparisons.
mod binding {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const IS: u8 = 4;
    pub const COMPARISON: u8 = 5;
    pub const BITS: u8 = 6;
    pub const SUM: u8 = 7;
    pub const PRODUCT: u8 = 8;
    pub const SIGN: u8 = 9;
}

/// Parses the whole of `text`, which begins at `offset` of the script.
pub fn parse_expression(
    text: &[u8],
    offset: usize,
    names: &mut Names,
) -> Result<Expression, Problem> {
    let mut parser = Parser {
        tokens: Tokens::new(text, offset),
        token: Token::End,
        offset,
        names,
        nesting: 0,
        nodes: 0,
    };
    parser.advance()?;
    let expression = parser.expression(0)?;
    match parser.token {
        Token::End => Ok(expression),
        _ => Err(parser.unexpected("an operator")),
    }
}

enum Infix {
    Call(Function),
    /// `>` and `>=` are `<` and `<=` with the sides exchanged.
    Exchanged(Function),
    And,
    Or,
}

struct Parser<'a, 'n> {
    tokens: Tokens<'a>,
    token: Token<'a>,
    /// Offset of `token`.
    offset: usize,
    names: &'n mut Names,
    nesting: usize,
    nodes: usize,
}

impl Parser<'_, '_> {
    fn advance(&mut self) -> Result<(), Problem> {
        (self.token, self.offset) = self.tokens.next_token()?;
        Ok(())
    }

    fn expression(&mut self, weakest: u8) -> Result<Expression, Problem> {
        self.nesting += 1;
        if self.nesting > MOST_NESTING {
            return Err(self.bad(format!(
                "the expression is nested more than {MOST_NESTING} deep"
            )));
        }
        let mut left = self.prefix()?;
        // Comparisons do not chain: `1 < 2 < 3` is an error, `1 < 2 is true < 3` is not.
        let mut strongest = u8::MAX;
        while let Some((infix, strength)) = self.infix() {
            if strength < weakest || strength > strongest {
                break;
            }
            self.count_node()?;
            if strength == binding::IS {
                left = self.is_test(left)?;
                strongest = u8::MAX;
                continue;
            }
            self.advance()?;
            let right = self.expression(strength + 1)?;
            if strength == binding::COMPARISON {
                strongest = binding::IS;
            }
            left = match infix {
                Infix::Call(function) => call(function, [left, right]),
                Infix::Exchanged(function) => call(function, [right, left]),
                Infix::And => Expression::And(Box::new([left, right])),
                Infix::Or => Expression::Or(Box::new([left, right])),
            };
        }
        self.nesting -= 1;
        Ok(left)
    }

    fn infix(&self) -> Option<(Infix, u8)> {
        use Function as F;
        Some(match self.token {
            Token::Word(word) if is(word, "or") => (Infix::Or, binding::OR),
            Token::Word(word) if is(word, "and") => (Infix::And, binding::AND),
            Token::Word(word) if is(word, "is") || is(word, "isnull") || is(word, "notnull") => {
                (Infix::Call(F::Is), binding::IS)
            }
            Token::Symbol(symbol) => match symbol {
                "=" => (Infix::Call(F::Equal), binding::COMPARISON),
                "<>" | "!=" => (Infix::Call(F::NotEqual), binding::COMPARISON),
                "<" => (Infix::Call(F::Less), binding::COMPARISON),
                "<=" => (Infix::Call(F::LessOrEqual), binding::COMPARISON),
                ">" => (Infix::Exchanged(F::Less), binding::COMPARISON),
                ">=" => (Infix::Exchanged(F::LessOrEqual), binding::COMPARISON),
                "|" => (Infix::Call(F::BitOr), binding::BITS),
                "#" => (Infix::Call(F::BitXor), binding::BITS),
                "&" => (Infix::Call(F::BitAnd), binding::BITS),
                "<<" => (Infix::Call(F::ShiftLeft), binding::BITS),
                ">>" => (Infix::Call(F::ShiftRight), binding::BITS),
                "+" => (Infix::Call(F::Add), binding::SUM),
                "-" => (Infix::Call(F::Subtract), binding::SUM),
                "*" => (Infix::Call(F::Multiply), binding::PRODUCT),
                "/" => (Infix::Call(F::Divide), binding::PRODUCT),
                "%" => (Infix::Call(F::Modulo), binding::PRODUCT),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// `IS [NOT] NULL|TRUE|FALSE`, `ISNULL`, `NOTNULL` behind `left`.
    fn is_test(&mut self, left: Expression) -> Result<Expression, Problem> {
        let (mut negated, mut tested) = (false, Value::Null);
        if self.at_word("is") {
            self.advance()?;
            if self.at_word("not") {
                negated = true;
                self.advance()?;
            }
            tested = match self.token {
                Token::Word(word) if is(word, "null") => Value::Null,
                Token::Word(word) if is(word, "true") => Value::Bool(true),
                Token::Word(word) if is(word, "false") => Value::Bool(false),
                _ => return Err(self.unexpected("NULL, TRUE or FALSE")),
            };
        } else {
            negated = self.at_word("notnull");
        }
        self.advance()?;
        let test = call(Function::Is, [left, Expression::Constant(tested)]);
        Ok(if negated {
            call(Function::Not, [test])
        } else {
            test
        })
    }

    fn prefix(&mut self) -> Result<Expression, Problem> {
        self.count_node()?;
        let token = self.token;
        match token {
            Token::Symbol("-") => {
                self.advance()?;
                if let Token::Int(digits) = self.token {
                    self.advance()?;
                    return Ok(Expression::Constant(Value::Int(
                        0i64.wrapping_sub_unsigned(digits),
                    )));
                }
                let operand = self.expression(binding::SIGN)?;
                let zero = Expression::Constant(Value::Int(0));
                Ok(call(Function::Subtract, [zero, operand]))
            }
            Token::Symbol("+") => {
                self.advance()?;
                self.expression(binding::SIGN)
            }
            // Binds as weakly as the binary operators on bits: `~1 + 2` is `~(1 + 2)`.
            Token::Symbol("~") => {
                self.advance()?;
                let operand = self.expression(binding::BITS + 1)?;
                let ones = Expression::Constant(Value::Int(-1));
                Ok(call(Function::BitXor, [ones, operand]))
            }
            Token::Symbol("(") => {
                self.advance()?;
                let inner = self.expression(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Word(word) if is(word, "not") => {
                self.advance()?;
                let operand = self.expression(binding::NOT)?;
                Ok(call(Function::Not, [operand]))
            }
            Token::Int(digits) => match i64::try_from(digits) {
                Ok(value) => self.constant(Value::Int(value)),
                // 2^63, which is valid after a minus only.
                Err(_) => Err(self.unexpected("a value")),
            },
            Token::Double(value) => self.constant(Value::Double(value)),
            Token::Variable(name) => {
                let slot = self.names.slot(name);
                self.advance()?;
                Ok(Expression::Variable(slot))
            }
            Token::Word(word) if is(word, "null") => self.constant(Value::Null),
            Token::Word(word) if is(word, "true") => self.constant(Value::Bool(true)),
            Token::Word(word) if is(word, "false") => self.constant(Value::Bool(false)),
            Token::Word(word) if is(word, "case") => self.case(),
            Token::Word(word) => self.function(word),
            Token::Symbol(_) | Token::End => Err(self.unexpected("a value")),
        }
    }

    /// `CASE WHEN … THEN … [ELSE …] END`, from the CASE on.
    fn case(&mut self) -> Result<Expression, Problem> {
        self.advance()?;
        let mut branches = Vec::new();
        while branches.is_empty() || self.at_word("when") {
            self.expect_word("when")?;
            let condition = self.expression(0)?;
            self.expect_word("then")?;
            branches.push([condition, self.expression(0)?]);
        }
        let mut otherwise = Expression::Constant(Value::Null);
        if self.at_word("else") {
            self.advance()?;
            otherwise = self.expression(0)?;
        }
        self.expect_word("end")?;
        Ok(Expression::Case {
            branches: branches.into(),
            otherwise: Box::new(otherwise),
        })
    }

    fn function(&mut self, name: &[u8]) -> Result<Expression, Problem> {
        let Some(named) = find(name) else {
            return Err(self.bad(format!(
                "unexpected function name ({name}); a variable is written :{name}",
                name = shown(name),
            )));
        };
        let offset = self.offset;
        self.advance()?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        if self.token != Token::Symbol(")") {
            arguments.push(self.expression(0)?);
            while self.token == Token::Symbol(",") {
                self.advance()?;
                arguments.push(self.expression(0)?);
            }
        }
        self.expect(")")?;
        named
            .check_arguments(arguments.len())
            .map_err(|problem| Problem::new(offset, problem))?;
        if named.is_seeded && arguments.len() < named.most_arguments {
            arguments.push(Expression::Variable(self.names.slot(b"default_seed")));
        }
        Ok(Expression::Call(named.function, arguments.into()))
    }

    fn constant(&mut self, value: Value) -> Result<Expression, Problem> {
        self.advance()?;
        Ok(Expression::Constant(value))
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), Problem> {
        if self.token == Token::Symbol(symbol) {
            self.advance()
        } else {
            Err(self.unexpected(&format!("\"{symbol}\"")))
        }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Problem> {
        if self.at_word(word) {
            self.advance()
        } else {
            Err(self.unexpected(&word.to_ascii_uppercase()))
        }
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(found) if is(found, word))
    }

    fn count_node(&mut self) -> Result<(), Problem> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.bad(format!("the expression has more than {MOST_NODES} parts")));
        }
        Ok(())
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let found = match self.token {
            Token::End => "the end of the command".to_owned(),
            Token::Int(value) => value.to_string(),
            Token::Double(value) => value.to_string(),
            Token::Variable(name) => format!(":{}", shown(name)),
            Token::Word(word) => format!("\"{}\"", shown(word)),
            Token::Symbol(symbol) => format!("\"{symbol}\""),
        };
        self.bad(format!("syntax error: expected {wanted} but found {found}"))
    }

    fn bad(&self, problem: String) -> Problem {
        Problem::new(self.offset, problem)
    }
}

fn is(found: &[u8], word: &str) -> bool {
    found.eq_ignore_ascii_case(word.as_bytes())
}

fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::Call(function, Box::new(arguments))
}

#[cfg(test)]
mod tests;
