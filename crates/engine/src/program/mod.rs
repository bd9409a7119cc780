//! The scenarios of a load, compiled for its protocol.
//!
//! Enters: the configuration. Leaves: a [`Program`] that all workers share. Never: changes it
//! later.

mod flow;

use std::collections::BTreeSet;
use std::sync::Arc;

use pgassay_session::shown;

use crate::config::{Configuration, Setting};
use crate::error::EngineError;
use crate::messages::Request;
use crate::parameters::{Rows, Supply};
use crate::random::mix::Mix;
use crate::random::{Purpose, Random, Seeds};
use crate::script::{
    Content, Known, Names, Problem, Script, Slot, Statement, Value, Variables, is_name, undefined,
};

pub use flow::{Operation, OperationKind};

#[derive(Debug)]
pub struct Program {
    pub scenarios: Vec<Scenario>,
    pub mix: Mix,
    /// Commands of all scenarios, by number.
    pub commands: Vec<ListedCommand>,
    pub names: Names,
    /// The initial variables of every client, except `client_id`.
    variables: Variables,
    client_id: Slot,
    seeds: Seeds,
    seed: u64,
}

#[derive(Debug)]
pub struct Scenario {
    pub name: String,
    pub file: String,
    pub operations: Vec<Operation>,
    /// The rows that its transactions take; none without a file, and where reports are merged.
    pub supply: Option<Supply>,
    /// Whether texts of its failures that may show a value are left out.
    pub is_private: bool,
}

/// The text of a command in its script.
#[derive(Debug)]
pub struct ListedCommand {
    pub scenario: usize,
    pub line: usize,
    pub text: String,
}

impl Program {
    /// `rows` are those of each scenario that has parameters; none of them are needed where
    /// nothing is run.
    pub fn compile(
        configuration: &Configuration,
        rows: &[Option<Arc<Rows>>],
    ) -> Result<Program, EngineError> {
        let mut names = Names::default();
        let parse = |scenario: &crate::config::Scenario| {
            let allow_shell = configuration.allow_shell;
            Script::parse(&scenario.file, &scenario.script, allow_shell, &mut names)
        };
        let scenarios = configuration.scenarios.iter();
        let scripts = scenarios.map(parse).collect::<Result<Vec<_>, _>>()?;
        let seeds = Seeds::derive(
            configuration.seed,
            configuration.assignments_of_one_server().len(),
        );
        let given = initial_values(configuration, &seeds, &mut names);
        let mut known: BTreeSet<Slot> = given.iter().map(|(slot, _)| *slot).collect();
        let columns = configuration.scenarios.iter();
        let columns: Vec<_> = columns.map(|one| self::columns(one, &names)).collect();
        known.extend(columns.iter().flatten().flatten());
        let mut variables = names.variables();
        for (slot, content) in given {
            variables.set(slot, content);
        }
        let targets: Vec<_> = scripts.iter().map(Script::targets).collect();
        let is_known = |slot: Slot| {
            known.contains(&slot) || targets.iter().any(|targets| targets.contain(slot, &names))
        };
        // Checked before the scripts are consumed.
        let mut known = Known {
            given: BTreeSet::new(),
            slots: names.all().filter(|slot| is_known(*slot)).collect(),
            may_be_any: scripts.iter().any(Script::sets_unknown),
        };

        let mut commands = Vec::new();
        let mut scenarios = Vec::new();
        for ((script, scenario), columns) in scripts
            .into_iter()
            .zip(&configuration.scenarios)
            .zip(columns)
        {
            known.given = columns.iter().flatten().copied().collect();
            let locate = |problem: Problem| problem.locate(&scenario.file, &scenario.script);
            if !known.may_be_any {
                require_known(&script, &scenario.script, &known.slots, &names).map_err(locate)?;
            }
            let protocol = configuration.protocol;
            let first = commands.len();
            commands.extend(script.commands.iter().map(|command| ListedCommand {
                scenario: scenarios.len(),
                line: command.line,
                text: shown(&command.text).into_owned(),
            }));
            let ask = |statement: &Statement, offset: usize, number: usize| {
                let name = format!("pgassay_{number}");
                Request::new(statement, protocol, &name, offset, &known)
            };
            let operations = flow::operations(script, protocol, first, ask);
            scenarios.push(Scenario {
                name: scenario.name.clone(),
                file: scenario.file.clone(),
                operations: operations.map_err(locate)?,
                supply: rows
                    .get(scenarios.len())
                    .and_then(|rows| rows.clone())
                    .zip(scenario.parameters.as_ref())
                    .map(|(rows, parameters)| {
                        Supply::new(rows, parameters.order, columns, configuration.share)
                    }),
                is_private: scenario
                    .parameters
                    .as_ref()
                    .is_some_and(|parameters| parameters.private),
            });
        }
        let weights = configuration.scenarios.iter().map(|s| s.weight);
        Ok(Program {
            scenarios,
            mix: Mix::new(&weights.collect::<Vec<_>>()),
            commands,
            variables,
            client_id: names.slot(b"client_id"),
            names,
            seeds,
            seed: configuration.seed,
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

    /// The random numbers for the functions of a client's scripts.
    #[must_use]
    pub fn random(&self, client: usize) -> Random {
        self.seeds.script(client)
    }

    /// The random numbers by which a client draws rows of parameters.
    #[must_use]
    pub fn rows(&self, client: usize) -> Random {
        Random::new(self.seed, client, Purpose::Row)
    }

    /// Statements to prepare, with their numbers.
    pub fn preparations(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let operations = self.scenarios.iter().flat_map(|s| &s.operations);
        operations.filter_map(|operation| match &operation.work {
            OperationKind::Send { request, .. } => Some((operation.number, request.preparation()?)),
            _ => None,
        })
    }
}

/// The variable of each column of a scenario's parameters; none where no script mentions it.
fn columns(scenario: &crate::config::Scenario, names: &Names) -> Vec<Option<Slot>> {
    let parameters = scenario.parameters.iter();
    let columns = parameters.flat_map(|parameters| &parameters.columns);
    columns.map(|name| names.find(name.as_bytes())).collect()
}

/// The variables that pgbench sets, overridden by those of the configuration.
fn initial_values(
    configuration: &Configuration,
    seeds: &Seeds,
    names: &mut Names,
) -> Vec<(Slot, Content)> {
    let automatic = [
        ("client_id", 0),
        ("default_seed", seeds.hash),
        ("random_seed", configuration.seed.cast_signed()),
        ("scale", 1),
    ];
    let automatic = automatic.map(|(name, value)| (name, Content::Value(Value::Int(value))));
    let given = configuration.variables.iter();
    let given = given.map(|(name, setting)| (name.as_str(), content(setting)));
    automatic
        .into_iter()
        .chain(given)
        .map(|(name, content)| (names.slot(name.as_bytes()), content))
        .collect()
}

/// Refuses a variable that neither a script nor the configuration sets.
fn require_known(
    script: &Script,
    text: &[u8],
    known: &BTreeSet<Slot>,
    names: &Names,
) -> Result<(), Problem> {
    let unknown = |(slot, _): &(Slot, usize)| !known.contains(slot);
    match script.reads().into_iter().find(unknown) {
        Some((slot, offset)) => {
            let name = names.name(slot);
            let fault = undefined(name);
            let problem = format!("{fault}; add \\set {} or give it a value", shown(name));
            Err(Problem::new(use_of(name, text, offset), problem))
        }
        None => Ok(()),
    }
}

/// The place of the variable's name: at `offset` in an SQL command, after it in a meta command.
fn use_of(name: &[u8], text: &[u8], offset: usize) -> usize {
    let rest = text.get(offset..).unwrap_or_default();
    let used = [b":", name].concat();
    let is_use = |at: &usize| {
        let found = rest
            .get(*at..)
            .and_then(|rest| rest.strip_prefix(&used[..]));
        found.is_some_and(|after| !after.first().is_some_and(|&byte| is_name(&[b'a', byte])))
    };
    offset + (0..rest.len()).find(is_use).unwrap_or(0)
}

fn content(setting: &Setting) -> Content {
    match setting {
        Setting::Null => Content::Value(Value::Null),
        Setting::Bool(value) => Content::Value(Value::Bool(*value)),
        Setting::Int(value) => Content::Value(Value::Int(*value)),
        Setting::Double(value) => Content::Value(Value::Double(*value)),
        Setting::Text(text) => Content::Text(text.as_bytes().to_vec()),
        Setting::Bytes(text) => Content::Text(text.clone()),
    }
}
