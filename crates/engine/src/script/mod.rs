//! The script language: pgbench's, so that its scripts run unchanged.
//!
//! Enters: a script's name and text. Leaves: commands with variables resolved to slots, or an
//! error with file and line. Never: knows the protocol, a client or a connection.

mod expression;
mod function;
mod parse;
mod split;
mod token;
mod value;
mod variables;

use std::collections::BTreeSet;

pub use expression::{Context, Expression};
pub use value::{Content, Fault, Value};
pub use variables::{Names, Slot, Variables};

use crate::error::EngineError;
use split::{Raw, RawPiece, split};
use token::{BadToken, is_word};

/// Variables that every client has without anybody setting them.
pub const AUTOMATIC: [&str; 3] = ["client_id", "default_seed", "random_seed"];

/// Meta commands of pgbench that this form of the language does not have yet.
const LATER: [&str; 12] = [
    "aset",
    "elif",
    "else",
    "endif",
    "endpipeline",
    "gset",
    "if",
    "setshell",
    "shell",
    "sleep",
    "startpipeline",
    "syncpipeline",
];

#[derive(Debug)]
pub struct Script {
    pub file: String,
    pub commands: Vec<Command>,
}

#[derive(Debug)]
pub enum Command {
    Sql(Statement),
    Set {
        variable: Slot,
        expression: Expression,
        line: usize,
    },
}

/// One SQL command, sent and answered as a whole.
#[derive(Debug)]
pub struct Statement {
    pub pieces: Vec<Piece>,
    pub line: usize,
}

#[derive(Debug)]
pub enum Piece {
    Text(String),
    Variable(Slot),
}

impl Script {
    pub fn parse(file: &str, text: &str, names: &mut Names) -> Result<Script, EngineError> {
        let error = |bad: BadToken| EngineError::Script {
            file: file.to_owned(),
            line: bad.line,
            problem: bad.problem,
        };
        let mut commands = Vec::new();
        for raw in split(text).map_err(error)? {
            commands.push(compile(raw, names).map_err(error)?);
        }
        if !commands.iter().any(|c| matches!(c, Command::Sql(_))) {
            return Err(error(BadToken {
                line: 1,
                problem: "the script has no SQL command; add one".to_owned(),
            }));
        }
        Ok(Script {
            file: file.to_owned(),
            commands,
        })
    }

    #[must_use]
    pub fn sets(&self, slot: Slot) -> bool {
        self.commands
            .iter()
            .any(|command| matches!(command, Command::Set { variable, .. } if *variable == slot))
    }

    /// Variables that the script reads but never sets, each with the line of its first use.
    #[must_use]
    pub fn unset_variables(&self) -> Vec<(Slot, usize)> {
        let mut set = BTreeSet::new();
        let mut reads: Vec<(Slot, usize)> = Vec::new();
        for command in &self.commands {
            match command {
                Command::Sql(statement) => {
                    reads.extend(statement.variables().map(|slot| (slot, statement.line)));
                }
                Command::Set {
                    variable,
                    expression,
                    line,
                } => {
                    expression.variables(&mut |slot| reads.push((slot, *line)));
                    set.insert(*variable);
                }
            }
        }
        let mut seen = BTreeSet::new();
        reads.retain(|(slot, _)| !set.contains(slot) && seen.insert(*slot));
        reads
    }
}

impl Statement {
    pub fn variables(&self) -> impl Iterator<Item = Slot> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable(slot) => Some(*slot),
            Piece::Text(_) => None,
        })
    }
}

/// Parses one script on its own; returns the variables it reads but never sets.
pub fn check_script(file: &str, text: &str) -> Result<Vec<String>, EngineError> {
    let mut names = Names::default();
    let script = Script::parse(file, text, &mut names)?;
    let unset = script.unset_variables();
    let unset = unset.iter().map(|(slot, _)| names.name(*slot).to_owned());
    Ok(unset
        .filter(|name| !AUTOMATIC.contains(&name.as_str()))
        .collect())
}

fn compile(raw: Raw<'_>, names: &mut Names) -> Result<Command, BadToken> {
    match raw {
        Raw::Sql { pieces, line } => {
            if let Some(position) = pieces.iter().position(has_nul) {
                let problem = format!("the SQL command has a zero byte (part {position})");
                return Err(BadToken { line, problem });
            }
            let pieces = pieces
                .into_iter()
                .map(|piece| match piece {
                    RawPiece::Text(text) => Piece::Text(text.to_owned()),
                    RawPiece::Variable(name) => Piece::Variable(names.slot(name)),
                })
                .collect();
            Ok(Command::Sql(Statement { pieces, line }))
        }
        Raw::Meta {
            name,
            arguments,
            line,
        } => {
            if name.eq_ignore_ascii_case("set") {
                return compile_set(arguments, line, names);
            }
            let known = LATER.iter().any(|later| name.eq_ignore_ascii_case(later));
            let problem = if known {
                format!("\\{name} is not supported yet; supported: \\set")
            } else {
                format!("unknown meta command \\{name}; supported: \\set")
            };
            Err(BadToken { line, problem })
        }
    }
}

fn compile_set(arguments: &str, line: usize, names: &mut Names) -> Result<Command, BadToken> {
    let begin = arguments
        .find(|c: char| !c.is_ascii_whitespace() && c != '\\')
        .unwrap_or(arguments.len());
    let (space, rest) = arguments.split_at_checked(begin).unwrap_or(("", arguments));
    let line = line + space.matches('\n').count();
    let end = rest
        .find(|c: char| c.is_ascii_whitespace() || c == '\\')
        .unwrap_or(rest.len());
    let (name, expression) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let is_name = name.bytes().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit());
    if name.is_empty() || !is_name {
        let problem = if name.is_empty() {
            "\\set needs a variable and an expression: \\set name 1 + 1".to_owned()
        } else {
            format!("invalid variable name {name:?}: use letters, digits and _, no digit first")
        };
        return Err(BadToken { line, problem });
    }
    let expression = parse::parse_expression(expression, line, names)?;
    Ok(Command::Set {
        variable: names.slot(name),
        expression,
        line,
    })
}

fn has_nul(piece: &RawPiece<'_>) -> bool {
    matches!(piece, RawPiece::Text(text) if text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        check_script("pay.sql", text).expect_err(text).to_string()
    }

    #[test]
    fn variables_that_nothing_sets_are_named_once_in_order() {
        let text = "\\set aid random(1, :naccounts * :scale)\n\
                    SELECT :aid, :tid, :scale, :client_id, :random_seed; \\set tid :scale";
        assert_eq!(check_script("x", text).unwrap(), ["naccounts", "scale"]);
    }

    #[test]
    fn errors_name_file_line_and_reason() {
        for (text, expected) in [
            ("", "pay.sql:1: the script has no SQL command; add one"),
            (
                "\\set x 1",
                "pay.sql:1: the script has no SQL command; add one",
            ),
            (
                "END;\n\\sleep 1 ms",
                "pay.sql:2: \\sleep is not supported yet; supported: \\set",
            ),
            (
                "END;\n\\foo",
                "pay.sql:2: unknown meta command \\foo; supported: \\set",
            ),
            ("\\", "pay.sql:1: unknown meta command \\; supported: \\set"),
            (
                "SELECT 1 \\gset",
                "pay.sql:1: \\gset is not supported yet; supported: \\set",
            ),
            (
                "\\set",
                "pay.sql:1: \\set needs a variable and an expression: \\set name 1 + 1",
            ),
            (
                "\\set 1x 5",
                "pay.sql:1: invalid variable name \"1x\": use letters, digits and _, no digit first",
            ),
            (
                "\\set x",
                "pay.sql:1: expected a value but found the end of the command",
            ),
            (
                "\n\\set x 1 \\\n + \\\n )",
                "pay.sql:4: expected a value but found \")\"",
            ),
            (
                "\\set \\\n x \\\n 1 $",
                "pay.sql:3: unexpected character '$'",
            ),
            (
                "SELECT 1;\nSELECT 'a",
                "pay.sql:2: the string that begins here is not closed",
            ),
        ] {
            assert_eq!(error(text), expected, "{text}");
        }
    }

    #[test]
    fn pgbench_s_own_scripts_parse() {
        let tpcb = "\\set aid random(1, 100000 * :scale)\n\\set bid random(1, 1 * :scale)\n\
            \\set tid random(1, 10 * :scale)\n\\set delta random(-5000, 5000)\nBEGIN;\n\
            UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
            SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
            INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
            END;\n";
        assert_eq!(check_script("tpcb", tpcb).unwrap(), ["scale"]);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in ".{0,200}") {
            let _ = check_script("x", &text);
        }

        #[test]
        fn text_made_of_the_language_never_panics(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "\\set", "\\", "\n", "\r\n", " ", ";", ":", "x", "é", "'", "\"", "$", "$$", "E'",
                    "(", ")", "--", "/*", "*/", "1", ".", "e", "-", "+", "<", "random", ",", "not",
                    "is", "null", "create function", "begin", "end", "case", "~", "9223372036854775808",
                ]),
                0..40,
            )
        ) {
            let _ = check_script("x", &parts.concat());
        }
    }
}
