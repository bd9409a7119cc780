//! The script language: pgbench's, so that its scripts run unchanged.
//!
//! Enters: a script's name and text. Leaves: commands with variables resolved to slots, or an
//! error with file, line and column. Never: knows the protocol, a client or a connection.

mod advice;
mod bytes;
mod command;
mod content;
mod expression;
mod plain;
mod problem;
mod quoted;
mod split;
mod variables;
mod words;

use std::collections::{BTreeSet, HashSet};

use pgassay_session::shown;

pub use command::{Action, Amount, Capture, Command, Pause, Piece, ShellWord, Statement};
pub use content::Content;
pub use expression::{Context, Expression, Fault, Value};
pub use plain::check_sql;
pub use problem::Problem;
pub use quoted::Known;
pub use split::SqlContext;
pub use variables::{Names, Slot, Variables, is_name, undefined};

use crate::error::EngineError;
use bytes::trim_end;
use split::{Raw, RawPiece, split};

/// Variables that every client has by default.
pub const AUTOMATIC: [&str; 3] = ["client_id", "default_seed", "random_seed"];

#[derive(Debug)]
pub struct Script {
    pub commands: Vec<Command>,
}

impl Script {
    pub fn parse(
        file: &str,
        text: &[u8],
        allow_shell: bool,
        names: &mut Names,
    ) -> Result<Script, EngineError> {
        let script = Script::read(text, names);
        let checked = script.and_then(|script| {
            script.check_conditions(text.len())?;
            script.check_shell(allow_shell)?;
            Ok(script)
        });
        checked.map_err(|problem| problem.locate(file, text))
    }

    fn read(text: &[u8], names: &mut Names) -> Result<Script, Problem> {
        let mut commands: Vec<Command> = Vec::new();
        // The line of the last command, counted on from the one before it.
        let (mut line, mut counted) = (1, 0);
        for raw in split(text)? {
            let (offset, shown, action) = match raw {
                Raw::Sql { pieces, offset } => {
                    refuse_zero_bytes(&pieces, offset)?;
                    let statement = Statement::new(&pieces, names);
                    (offset, statement.text(), Action::Sql(statement))
                }
                Raw::Meta {
                    offset,
                    text: words,
                } => match command::read_meta(words, offset + 1, names)
                    .map_err(|problem| advice::advised(problem, &shown(words), offset + 1))?
                {
                    Some(Action::Capture(capture)) => {
                        attach(capture, offset, commands.last_mut())?;
                        continue;
                    }
                    Some(action) => (offset, [b"\\", trim_end(words)].concat(), action),
                    None => continue,
                },
            };
            line += newlines(text, counted, offset);
            counted = offset;
            commands.push(Command {
                offset,
                line,
                text: shown,
                action,
            });
        }
        if commands.is_empty() {
            return Err(Problem::new(
                0,
                "empty command list; add a command to the script",
            ));
        }
        Ok(Script { commands })
    }

    /// Checks that every `\if` has its `\endif`, and that `\elif` and `\else` are in order.
    fn check_conditions(&self, end: usize) -> Result<(), Problem> {
        // One per open \if: whether its \else was read.
        let mut open: Vec<bool> = Vec::new();
        for command in &self.commands {
            let problem = |text: &str| Err(Problem::new(command.offset, text));
            match (&command.action, open.last_mut()) {
                (Action::If(_), _) => open.push(false),
                (Action::Elif(_), None) => return problem("\\elif without matching \\if"),
                (Action::Elif(_), Some(true)) => return problem("\\elif after \\else"),
                (Action::Else, None) => return problem("\\else without matching \\if"),
                (Action::Else, Some(true)) => return problem("\\else after \\else"),
                (Action::Else, Some(has_else)) => *has_else = true,
                (Action::Endif, None) => return problem("\\endif without matching \\if"),
                (Action::Endif, Some(_)) => {
                    open.pop();
                }
                _ => {}
            }
        }
        if open.is_empty() {
            Ok(())
        } else {
            Err(Problem::new(end, "\\if without matching \\endif"))
        }
    }

    fn check_shell(&self, is_allowed: bool) -> Result<(), Problem> {
        let runs_programs = |command: &&Command| {
            matches!(command.action, Action::Shell(_) | Action::SetShell { .. })
        };
        match self.commands.iter().find(runs_programs) {
            Some(command) if !is_allowed => Err(Problem::new(
                command.offset,
                "\\shell and \\setshell run programs on this machine; allow them with --allow-shell",
            )),
            _ => Ok(()),
        }
    }

    /// The variables that the script's commands set.
    #[must_use]
    pub fn targets(&self) -> Targets<'_> {
        let mut targets = Targets::default();
        for command in &self.commands {
            match &command.action {
                Action::Set { variable, .. } | Action::SetShell { variable, .. } => {
                    targets.slots.insert(*variable);
                }
                Action::Sql(Statement {
                    capture: Some(capture),
                    ..
                }) if !capture.prefix.is_empty() => {
                    targets.prefixes.insert(&capture.prefix);
                }
                _ => {}
            }
        }
        targets
    }

    /// Whether the columns of some result may set any variable.
    #[must_use]
    pub fn sets_unknown(&self) -> bool {
        self.commands.iter().any(|command| {
            matches!(&command.action, Action::Sql(Statement { capture: Some(capture), .. })
                if capture.prefix.is_empty())
        })
    }

    /// Variables that the script reads, with the place of the first use. Text in quotes and
    /// comments of SQL may not be a variable and is left out.
    #[must_use]
    pub fn reads(&self) -> Vec<(Slot, usize)> {
        let mut reads: Vec<(Slot, usize)> = Vec::new();
        for command in &self.commands {
            let offset = command.offset;
            match &command.action {
                Action::Sql(statement) => reads.extend(statement.parameters()),
                Action::Set { expression, .. }
                | Action::If(expression)
                | Action::Elif(expression) => {
                    expression.variables(&mut |slot| reads.push((slot, offset)));
                }
                Action::Sleep(pause) => {
                    if let Amount::Variable(slot) = pause.amount {
                        reads.push((slot, offset));
                    }
                }
                Action::Shell(words) | Action::SetShell { words, .. } => {
                    reads.extend(words.iter().filter_map(|word| match word {
                        ShellWord::Variable(slot) => Some((*slot, offset)),
                        ShellWord::Text(_) => None,
                    }));
                }
                _ => {}
            }
        }
        let mut seen = BTreeSet::new();
        reads.retain(|(slot, _)| seen.insert(*slot));
        reads
    }
}

/// Variables that a script sets.
#[derive(Debug, Default)]
pub struct Targets<'s> {
    slots: HashSet<Slot>,
    /// Prefix of a `\gset`: any variable that begins with it may be set.
    prefixes: HashSet<&'s [u8]>,
}

impl Targets<'_> {
    #[must_use]
    pub fn contain(&self, slot: Slot, names: &Names) -> bool {
        let name = names.name(slot);
        self.slots.contains(&slot) || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }
}

impl Statement {
    /// Variables outside of quotes and comments, with their offsets.
    pub fn parameters(&self) -> impl Iterator<Item = (Slot, usize)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable {
                slot,
                offset,
                within: SqlContext::Code,
                ..
            } => Some((*slot, *offset)),
            _ => None,
        })
    }
}

/// Parses one script on its own, for the simple protocol or one that `binds` parameters; returns
/// the variables it reads, never sets, and is not `given` by a file of parameters.
pub fn check_script(
    file: &str,
    text: &[u8],
    allow_shell: bool,
    binds: bool,
    given: &[String],
) -> Result<Vec<String>, EngineError> {
    let mut names = Names::default();
    let script = Script::parse(file, text, allow_shell, &mut names)?;
    let targets = script.targets();
    let is_given = |slot: &Slot| given.iter().any(|one| one.as_bytes() == names.name(*slot));
    let mut known = Known {
        given: names.all().filter(is_given).collect(),
        ..Known::default()
    };
    if binds {
        let is_known = |slot: &Slot| {
            let name = names.name(*slot);
            targets.contain(*slot, &names)
                || is_given(slot)
                || name == b"scale"
                || AUTOMATIC.iter().any(|one| one.as_bytes() == name)
        };
        known.slots = names.all().filter(is_known).collect();
        known.may_be_any = script.sets_unknown();
    }
    for statement in script.commands.iter().filter_map(Command::statement) {
        let checked = known.refuse_quoted(statement);
        checked.map_err(|problem| problem.locate(file, text))?;
    }
    if script.sets_unknown() {
        return Ok(Vec::new());
    }
    let reads = script.reads().into_iter();
    let unset = reads.filter(|(slot, _)| !targets.contain(*slot, &names) && !is_given(slot));
    let unset = unset.map(|(slot, _)| shown(names.name(slot)).into_owned());
    Ok(unset
        .filter(|name| !AUTOMATIC.contains(&name.as_str()))
        .collect())
}

/// The SQL commands of a script as they are prepared, each with its line.
pub fn script_statements(
    file: &str,
    text: &[u8],
    allow_shell: bool,
) -> Result<Vec<(usize, Vec<u8>)>, EngineError> {
    let script = Script::parse(file, text, allow_shell, &mut Names::default())?;
    let commands = script.commands.iter();
    Ok(commands
        .filter_map(|command| Some((command.line, command.statement()?.with_parameters())))
        .collect())
}

fn newlines(text: &[u8], from: usize, to: usize) -> usize {
    let between = text.get(from..to).unwrap_or_default();
    between.iter().filter(|&&byte| byte == b'\n').count()
}

/// Makes `\gset` or `\aset` part of the statement before it.
fn attach(capture: Capture, offset: usize, last: Option<&mut Command>) -> Result<(), Problem> {
    let command = if capture.all { "aset" } else { "gset" };
    match last.map(|command| &mut command.action) {
        Some(Action::Sql(statement)) if statement.capture.is_none() => {
            statement.capture = Some(capture);
            Ok(())
        }
        _ => Err(Problem::new(
            offset,
            format!("\\{command} must follow an SQL command"),
        )),
    }
}

fn refuse_zero_bytes(pieces: &[RawPiece<'_>], offset: usize) -> Result<(), Problem> {
    let has_zero =
        |piece: &RawPiece<'_>| matches!(piece, RawPiece::Text(text) if text.contains(&0));
    if pieces.iter().any(has_zero) {
        return Err(Problem::new(offset, "the SQL command has a zero byte"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
