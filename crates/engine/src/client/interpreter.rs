//! The script interpreter of one client: steps through the operations of a scenario.
//!
//! Enters: a scenario to run, word that the server has answered. Leaves: bytes to send, and why
//! it stopped. Never: knows of connections, schedules or counts, or looks at a clock.

use crate::program::{Operation, Program};
use crate::random::{Purpose, Random};
use crate::script::{Content, Context, Fault, Value, Variables};

/// Why the interpreter does not go on by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// A statement was written; the server is to answer.
    Sent,
    /// The scenario is at its end.
    Finished,
    /// The script's own mistake.
    Faulted(Fault),
}

pub struct Interpreter {
    random: Random,
    variables: Variables,
    /// By number of the statement.
    prepared: Vec<bool>,
    scenario: usize,
    /// The operation of the scenario under way or, while none is, the next.
    operation: usize,
    /// Random state and variables at the beginning, where a scenario may be tried again.
    beginning: Option<(Random, Variables)>,
}

impl Interpreter {
    #[must_use]
    pub fn new(number: usize, seed: u64, program: &Program, prepared: Vec<bool>) -> Interpreter {
        Interpreter {
            random: Random::new(seed, number, Purpose::Script),
            variables: program.variables(number),
            prepared,
            scenario: 0,
            operation: 0,
            beginning: None,
        }
    }

    /// On another session from now on, with these statements prepared.
    pub fn move_session(&mut self, prepared: Vec<bool>) {
        self.prepared = prepared;
    }

    /// The scenario that was begun last.
    #[must_use]
    pub fn scenario(&self) -> usize {
        self.scenario
    }

    /// Makes ready to run `scenario` from its start.
    pub fn begin(&mut self, scenario: usize) {
        self.scenario = scenario;
        self.operation = 0;
    }

    /// Keeps what `restart` needs; called at the beginning of a scenario.
    pub fn keep_beginning(&mut self) {
        match &mut self.beginning {
            Some((random, variables)) => {
                random.clone_from(&self.random);
                variables.copy_from(&self.variables);
            }
            None => self.beginning = Some((self.random.clone(), self.variables.clone())),
        }
    }

    /// Back to the beginning that was kept: the next `run` makes the same requests again.
    pub fn restart(&mut self) {
        if let Some((random, variables)) = &self.beginning {
            self.random.clone_from(random);
            self.variables.copy_from(variables);
        }
        self.operation = 0;
    }

    /// The number of the statement under way.
    #[must_use]
    pub fn statement(&self, program: &Program) -> Option<usize> {
        match self.current(program)? {
            Operation::Send { number, .. } => Some(*number),
            Operation::Set { .. } => None,
        }
    }

    /// Runs operations up to the next that waits for the server. `stack` holds arguments of an
    /// expression under evaluation.
    pub fn run(&mut self, program: &Program, stack: &mut Vec<Value>, output: &mut Vec<u8>) -> Stop {
        while let Some(operation) = self.current(program) {
            match self.perform(operation, stack, output) {
                Ok(true) => return Stop::Sent,
                Ok(false) => self.operation += 1,
                Err(fault) => return Stop::Faulted(fault),
            }
        }
        Stop::Finished
    }

    /// The server has prepared the statement under way.
    pub fn parsed(&mut self, program: &Program) {
        if let Some(Operation::Send { request, number }) = self.current(program)
            && request.preparation().is_some()
            && let Some(prepared) = self.prepared.get_mut(*number)
        {
            *prepared = true;
        }
    }

    /// The statement under way has succeeded; the next `run` begins behind it.
    pub fn answered(&mut self) {
        self.operation += 1;
    }

    /// Whether what was sent last ended with a Sync of ours, not a Query.
    #[must_use]
    pub fn is_extended(&self, program: &Program) -> bool {
        matches!(self.current(program), Some(Operation::Send { request, .. }) if request.is_extended())
    }

    /// File and line of the operation under way, of the last one at the end.
    #[must_use]
    pub fn place(&self, program: &Program) -> String {
        let scenario = program.scenarios.get(self.scenario);
        let file = scenario.map_or("?", |scenario| &scenario.file);
        let last = scenario.and_then(|scenario| scenario.operations.last());
        let line = self.current(program).or(last).map_or(0, Operation::line);
        format!("{file}:{line}")
    }

    /// Performs one operation; true if the server is now to answer.
    fn perform(
        &mut self,
        operation: &Operation,
        stack: &mut Vec<Value>,
        output: &mut Vec<u8>,
    ) -> Result<bool, Fault> {
        match operation {
            Operation::Send { request, number } => {
                let is_prepared = self.prepared.get(*number).copied().unwrap_or(false);
                request.write(&self.variables, is_prepared, output)?;
                Ok(true)
            }
            Operation::Set {
                variable,
                expression,
                ..
            } => {
                let value = expression.evaluate(&mut Context {
                    variables: &self.variables,
                    random: &mut self.random,
                    stack,
                })?;
                self.variables.set(*variable, Content::Value(value));
                Ok(false)
            }
        }
    }

    fn current<'p>(&self, program: &'p Program) -> Option<&'p Operation> {
        program
            .scenarios
            .get(self.scenario)?
            .operations
            .get(self.operation)
    }
}
