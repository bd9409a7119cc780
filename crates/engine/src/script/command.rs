//! Commands of a script, and the parser of meta commands.
//!
//! Enters: the commands that `split` found. Leaves: commands with variables resolved to slots.
//! Never: checks the order of commands; `mod` does.

use pgassay_session::shown;

use super::bytes::ascii;
use super::expression::{Expression, parse_expression};
use super::problem::Problem;
use super::split::{RawPiece, SqlContext};
use super::variables::{Names, Slot, is_name};
use super::words::{Word, Words};

#[derive(Debug)]
pub struct Command {
    pub offset: usize,
    pub line: usize,
    /// The text in the script, for reports; without its `\gset` or `\aset`.
    pub text: Vec<u8>,
    pub action: Action,
}

impl Command {
    #[must_use]
    pub fn statement(&self) -> Option<&Statement> {
        match &self.action {
            Action::Sql(statement) => Some(statement),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub enum Action {
    Sql(Statement),
    Set {
        variable: Slot,
        expression: Expression,
    },
    If(Expression),
    Elif(Expression),
    Else,
    Endif,
    Sleep(Pause),
    Shell(Vec<ShellWord>),
    SetShell {
        variable: Slot,
        words: Vec<ShellWord>,
    },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    /// `\gset` and `\aset`, which become part of the statement before them.
    Capture(Capture),
}

/// One SQL command, sent and answered as a whole.
#[derive(Debug)]
pub struct Statement {
    pub pieces: Vec<Piece>,
    pub capture: Option<Capture>,
}

#[derive(Debug)]
pub enum Piece {
    Text(Vec<u8>),
    Variable {
        slot: Slot,
        name: Vec<u8>,
        offset: usize,
        within: SqlContext,
    },
}

/// Variables that take the columns of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// `\aset` takes the last row of every result; `\gset` the only row of the last result.
    pub all: bool,
    /// Prefix of the names of the columns.
    pub prefix: Vec<u8>,
}

/// The duration of `\sleep`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    pub amount: Amount,
    pub unit_ns: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    Constant(i64),
    Variable(Slot),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellWord {
    Text(Vec<u8>),
    Variable(Slot),
}

impl Piece {
    /// As it stands in the script.
    #[must_use]
    pub fn written(&self) -> Vec<u8> {
        match self {
            Piece::Text(text) => text.clone(),
            Piece::Variable { name, .. } => [b":", name.as_slice()].concat(),
        }
    }
}

impl Statement {
    pub fn new(pieces: &[RawPiece<'_>], names: &mut Names) -> Statement {
        let pieces = pieces.iter().map(|piece| match *piece {
            RawPiece::Text(text) => Piece::Text(text.to_vec()),
            RawPiece::Variable {
                name,
                offset,
                within,
            } => Piece::Variable {
                slot: names.slot(name),
                name: name.to_vec(),
                offset,
                within,
            },
        });
        Statement {
            pieces: pieces.collect(),
            capture: None,
        }
    }

    /// The text in the script.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(Piece::written).collect()
    }

    /// The text as it is prepared: `$1` and so on for variables outside of quotes and comments.
    #[must_use]
    pub fn with_parameters(&self) -> Vec<u8> {
        let mut number = 0;
        let pieces = self.pieces.iter().flat_map(|piece| match piece {
            Piece::Variable {
                within: SqlContext::Code,
                ..
            } => {
                // Each use is a separate parameter, because its type may differ.
                number += 1;
                format!("${number}").into_bytes()
            }
            other => other.written(),
        });
        pieces.collect()
    }
}

/// Reads the meta command `text`, which begins at `offset`; `None` for a backslash alone.
pub fn read_meta(text: &[u8], offset: usize, names: &mut Names) -> Result<Option<Action>, Problem> {
    let mut words = Words::new(text, offset);
    let Some(name) = words.next() else {
        return Ok(None);
    };
    let command = shown(name.text).to_ascii_lowercase();
    let missing = |what: &str| {
        let problem = format!("missing {what} in command \"{command}\"");
        Problem::new(name.offset, problem)
    };
    let (rest, at) = words.rest();
    let action = match command.as_str() {
        "set" => {
            let variable = words.next().ok_or_else(|| missing("argument"))?;
            let slot = variable_named(variable, names)?;
            let (rest, at) = words.rest();
            Action::Set {
                variable: slot,
                expression: parse_expression(rest, at, names)?,
            }
        }
        "if" => Action::If(parse_expression(rest, at, names)?),
        "elif" => Action::Elif(parse_expression(rest, at, names)?),
        "else" => Action::Else,
        "endif" => Action::Endif,
        "sleep" => {
            let amount = words.next().ok_or_else(|| missing("argument"))?;
            Action::Sleep(read_pause(amount, words.next(), names)?)
        }
        "shell" => {
            let words = shell_words(&mut words, names);
            if words.is_empty() {
                return Err(missing("command"));
            }
            Action::Shell(words)
        }
        "setshell" => {
            let variable = words.next().ok_or_else(|| missing("argument"))?;
            let words = shell_words(&mut words, names);
            if words.is_empty() {
                return Err(missing("argument"));
            }
            Action::SetShell {
                variable: variable_named(variable, names)?,
                words,
            }
        }
        "gset" | "aset" => Action::Capture(Capture {
            all: command == "aset",
            prefix: words.next().map_or(&b""[..], |word| word.text).to_vec(),
        }),
        "startpipeline" => Action::StartPipeline,
        "syncpipeline" => Action::SyncPipeline,
        "endpipeline" => Action::EndPipeline,
        _ => {
            let problem = format!("invalid command \\{}", shown(name.text));
            return Err(Problem::new(name.offset, problem));
        }
    };
    let takes_all = matches!(action, Action::Set { .. } | Action::If(_) | Action::Elif(_));
    match words.next() {
        Some(word) if !takes_all => {
            let count = match action {
                Action::Sleep(_) | Action::Capture(_) => "too many arguments",
                _ => "unexpected argument",
            };
            let problem = format!("{count} in command \"{command}\"");
            Err(Problem::new(word.offset, problem))
        }
        _ => Ok(Some(action)),
    }
}

fn variable_named(word: Word<'_>, names: &mut Names) -> Result<Slot, Problem> {
    if is_name(word.text) {
        return Ok(names.slot(word.text));
    }
    let problem = format!(
        "invalid variable name: \"{}\"; use letters, digits and _, no digit first",
        shown(word.text)
    );
    Err(Problem::new(word.offset, problem))
}

/// `10 ms`, `10ms`, `:x us`, `2` (seconds).
fn read_pause(
    amount: Word<'_>,
    unit: Option<Word<'_>>,
    names: &mut Names,
) -> Result<Pause, Problem> {
    if let Some(name) = amount.text.strip_prefix(b":") {
        return Ok(Pause {
            amount: Amount::Variable(names.slot(name)),
            unit_ns: unit_ns(unit)?,
        });
    }
    let is_sign = |&&byte: &&u8| byte == b'+' || byte == b'-';
    let sign = amount.text.iter().take_while(is_sign).count();
    let unsigned = amount.text.iter().skip(sign);
    let digits = unsigned.take_while(|byte| byte.is_ascii_digit()).count();
    let (number, suffix) = amount
        .text
        .split_at_checked(sign + digits)
        .unwrap_or((amount.text, b""));
    let suffix = Word {
        text: suffix,
        offset: amount.offset + number.len(),
    };
    let is_whole = suffix.text.is_empty() || unit.is_none();
    match ascii(number).parse() {
        Ok(constant) if is_whole => Ok(Pause {
            amount: Amount::Constant(constant),
            unit_ns: unit_ns(unit.or((!suffix.text.is_empty()).then_some(suffix)))?,
        }),
        _ => {
            let problem = format!(
                "invalid sleep time, must be an integer ({})",
                shown(amount.text)
            );
            Err(Problem::new(amount.offset, problem))
        }
    }
}

fn unit_ns(unit: Option<Word<'_>>) -> Result<i64, Problem> {
    let Some(unit) = unit else {
        return Ok(1_000_000_000);
    };
    match shown(unit.text).to_ascii_lowercase().as_str() {
        "us" => Ok(1_000),
        "ms" => Ok(1_000_000),
        "s" => Ok(1_000_000_000),
        _ => {
            let problem = format!(
                "unrecognized time unit, must be us, ms or s ({})",
                shown(unit.text)
            );
            Err(Problem::new(unit.offset, problem))
        }
    }
}

/// `:name` is a variable's value, `::name` the text `:name`.
fn shell_words(words: &mut Words<'_>, names: &mut Names) -> Vec<ShellWord> {
    words
        .map(|word| match word.text.strip_prefix(b":") {
            Some(literal) if literal.starts_with(b":") => ShellWord::Text(literal.to_vec()),
            Some(name) => ShellWord::Variable(names.slot(name)),
            None => ShellWord::Text(word.text.to_vec()),
        })
        .collect()
}
