//! The scenarios of a load, compiled for its protocol.
//!
//! Enters: the configuration. Leaves: a [`Program`], the same for all workers. Never: changes
//! once made.

use crate::config::{Configuration, Protocol, Setting};
use crate::error::EngineError;
use crate::messages::Request;
use crate::mix::Mix;
use crate::random::derived_seed;
use crate::script::{Command, Content, Expression, Names, Piece, Script, Slot, Value, Variables};

#[derive(Debug)]
pub struct Program {
    pub scenarios: Vec<Scenario>,
    pub mix: Mix,
    /// Statements of all scenarios; each has a number in its session.
    pub statements: usize,
    /// By number of the statement.
    pub commands: Vec<StatementCommand>,
    /// As every client begins, but for `client_id`.
    variables: Variables,
    client_id: Slot,
}

#[derive(Debug)]
pub struct Scenario {
    pub name: String,
    pub file: String,
    pub operations: Vec<Operation>,
}

/// A statement as its script has it.
#[derive(Debug)]
pub struct StatementCommand {
    pub scenario: usize,
    pub line: usize,
    pub text: String,
}

#[derive(Debug)]
pub enum Operation {
    Send {
        request: Request,
        /// Among the statements of all scenarios.
        number: usize,
    },
    Set {
        variable: Slot,
        expression: Expression,
        line: usize,
    },
}

impl Program {
    pub fn compile(configuration: &Configuration) -> Result<Program, EngineError> {
        let mut names = Names::default();
        let scripts = configuration
            .scenarios
            .iter()
            .map(|scenario| Script::parse(&scenario.file, &scenario.script, &mut names))
            .collect::<Result<Vec<_>, _>>()?;
        let automatic = [
            ("client_id", Value::Int(0)),
            ("random_seed", Value::Int(configuration.seed.cast_signed())),
            ("default_seed", Value::Int(derived_seed(configuration.seed))),
        ];
        let automatic = automatic.map(|(name, value)| (names.slot(name), Content::Value(value)));
        let given = configuration.variables.iter();
        let given: Vec<_> = given
            .map(|(name, setting)| (names.slot(name), content(setting)))
            .collect();
        let mut variables = names.variables();
        for (slot, content) in automatic.into_iter().chain(given) {
            variables.set(slot, content);
        }
        require_set(&scripts, &variables, &names)?;

        let mut statements = 0;
        let mut scenarios = Vec::new();
        let mut commands = Vec::new();
        for (script, scenario) in scripts.into_iter().zip(&configuration.scenarios) {
            commands.extend(statement_commands(&script, scenarios.len(), &names));
            let operations = operations(&script, configuration.protocol, &mut statements)?;
            scenarios.push(Scenario {
                name: scenario.name.clone(),
                file: script.file,
                operations,
            });
        }
        let weights = configuration.scenarios.iter().map(|s| s.weight);
        Ok(Program {
            scenarios,
            mix: Mix::new(&weights.collect::<Vec<_>>()),
            statements,
            commands,
            variables,
            client_id: names.slot("client_id"),
        })
    }

    /// The variables of a client at its start.
    #[must_use]
    pub fn variables(&self, client: usize) -> Variables {
        let mut variables = self.variables.clone();
        let number = i64::try_from(client).unwrap_or(i64::MAX);
        variables.set(self.client_id, Content::Value(Value::Int(number)));
        variables
    }

    /// Statements to prepare, with their numbers.
    pub fn preparations(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let operations = self.scenarios.iter().flat_map(|s| &s.operations);
        operations.filter_map(|operation| match operation {
            Operation::Send { request, number } => Some((*number, request.preparation()?)),
            Operation::Set { .. } => None,
        })
    }
}

impl Operation {
    #[must_use]
    pub fn line(&self) -> usize {
        match self {
            Operation::Send { request, .. } => request.line,
            Operation::Set { line, .. } => *line,
        }
    }
}

fn statement_commands(script: &Script, scenario: usize, names: &Names) -> Vec<StatementCommand> {
    let statements = script.commands.iter().filter_map(|command| match command {
        Command::Sql(statement) => Some(statement),
        Command::Set { .. } => None,
    });
    statements
        .map(|statement| StatementCommand {
            scenario,
            line: statement.line,
            text: statement
                .pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => text.clone(),
                    Piece::Variable(slot) => format!(":{}", names.name(*slot)),
                })
                .collect(),
        })
        .collect()
}

fn operations(
    script: &Script,
    protocol: Protocol,
    statements: &mut usize,
) -> Result<Vec<Operation>, EngineError> {
    let operation = |command: &Command| match command {
        Command::Sql(statement) => {
            let number = *statements;
            *statements += 1;
            let name = format!("pgassay_{number}");
            match Request::new(statement, protocol, &name) {
                Ok(request) => Ok(Operation::Send { request, number }),
                Err(fault) => Err(EngineError::Script {
                    file: script.file.clone(),
                    line: statement.line,
                    problem: fault.to_string(),
                }),
            }
        }
        Command::Set {
            variable,
            expression,
            line,
        } => Ok(Operation::Set {
            variable: *variable,
            expression: expression.clone(),
            line: *line,
        }),
    };
    script.commands.iter().map(operation).collect()
}

/// A variable that neither a script nor the configuration sets can only be a mistake.
fn require_set(
    scripts: &[Script],
    variables: &Variables,
    names: &Names,
) -> Result<(), EngineError> {
    for script in scripts {
        for (slot, line) in script.unset_variables() {
            let is_set = variables.is_set(slot) || scripts.iter().any(|other| other.sets(slot));
            if !is_set {
                let name = names.name(slot);
                return Err(EngineError::Script {
                    file: script.file.clone(),
                    line,
                    problem: format!(
                        "nothing sets the variable :{name}; add \\set {name} or give it a value"
                    ),
                });
            }
        }
    }
    Ok(())
}

fn content(setting: &Setting) -> Content {
    match setting {
        Setting::Null => Content::Value(Value::Null),
        Setting::Bool(value) => Content::Value(Value::Bool(*value)),
        Setting::Int(value) => Content::Value(Value::Int(*value)),
        Setting::Double(value) => Content::Value(Value::Double(*value)),
        Setting::Text(text) => Content::Text(text.as_str().into()),
    }
}
