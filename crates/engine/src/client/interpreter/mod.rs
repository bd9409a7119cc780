//! The script interpreter of one client: runs the operations of a scenario.
//!
//! Enters: a scenario to run, results, answers of the server. Leaves: bytes to send, and why it
//! stopped. Never: knows of connections, schedules or counts, or reads a clock.

mod answers;
mod capture;
mod outstanding;
mod pause;
mod shell;

use crate::messages::{PIPELINE_ROLLBACK, ROLLBACK, Request, SYNC, SendMode};
use crate::parameters::Ahead;
use crate::program::{Operation, OperationKind, Program};
use crate::random::Random;
use crate::script::{Capture, Content, Context, Expression, Fault, Value, Variables};
use capture::Results;
use outstanding::Outstanding;
use pause::duration_ns;

/// Why the interpreter stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It waits for the server's answer.
    Sent,
    /// The script sleeps for this many nanoseconds.
    Sleep(i64),
    /// The scenario has ended.
    Finished,
    /// The script itself failed.
    Faulted(Fault),
}

/// What to do after an operation.
enum Next {
    Operation,
    At(usize),
    Answer,
    Sleep(i64),
}

pub struct Interpreter {
    random: Random,
    /// Draws rows of parameters.
    rows: Random,
    /// By scenario, the rows that it has drawn.
    ahead: Vec<Ahead>,
    variables: Variables,
    /// Whether each statement is prepared, by its number.
    prepared: Vec<bool>,
    scenario: usize,
    /// The current operation of the scenario, or the next one.
    operation: usize,
    in_pipeline: bool,
    outstanding: Outstanding,
    results: Results,
    /// Whether variables take the results of the running statement.
    wants_rows: bool,
    /// Random state and variables at the start of a scenario that may be tried again.
    beginning: Option<(Random, Variables)>,
}

impl Interpreter {
    #[must_use]
    pub fn new(number: usize, program: &Program, prepared: Vec<bool>) -> Interpreter {
        Interpreter {
            random: program.random(number),
            rows: program.rows(number),
            ahead: vec![Ahead::default(); program.scenarios.len()],
            variables: program.variables(number),
            prepared,
            scenario: 0,
            operation: 0,
            in_pipeline: false,
            outstanding: Outstanding::default(),
            results: Results::default(),
            wants_rows: false,
            beginning: None,
        }
    }

    /// Continues on another session, which has these statements prepared.
    pub fn move_session(&mut self, prepared: Vec<bool>) {
        self.prepared = prepared;
        self.in_pipeline = false;
        self.wants_rows = false;
        self.outstanding.reset();
    }

    /// The scenario that was begun last.
    #[must_use]
    pub fn scenario(&self) -> usize {
        self.scenario
    }

    /// Prepares to run `scenario` from its start, with the next row of its parameters.
    pub fn begin(&mut self, scenario: usize, program: &Program) {
        self.scenario = scenario;
        self.operation = 0;
        let supply = program.scenarios.get(scenario);
        if let Some(supply) = supply.and_then(|scenario| scenario.supply.as_ref())
            && let Some(ahead) = self.ahead.get_mut(scenario)
        {
            supply.take(&mut self.rows, ahead, &mut self.variables);
        }
    }

    /// Whether texts of the scenario's failures that may show a value are left out.
    #[must_use]
    pub fn is_private(&self, program: &Program) -> bool {
        let scenario = program.scenarios.get(self.scenario);
        scenario.is_some_and(|scenario| scenario.is_private)
    }

    /// Saves the state for `restart`; called at the start of a scenario.
    pub fn keep_beginning(&mut self) {
        match &mut self.beginning {
            Some((random, variables)) => {
                random.clone_from(&self.random);
                variables.copy_from(&self.variables);
            }
            None => self.beginning = Some((self.random.clone(), self.variables.clone())),
        }
    }

    /// Restores the saved state: the next `run` makes the same requests again.
    pub fn restart(&mut self) {
        if let Some((random, variables)) = &self.beginning {
            self.random.clone_from(random);
            self.variables.copy_from(variables);
        }
        self.operation = 0;
    }

    /// The number of the current command: the one that the server answers (`\\endpipeline` for a
    /// whole pipeline), that sleeps, or that has just failed. None at the end.
    #[must_use]
    pub fn command(&self, program: &Program) -> Option<usize> {
        self.current(program).map(|operation| operation.number)
    }

    /// Runs operations up to the next one that waits; calls `done` for those that did not wait.
    /// `stack` is scratch space for the evaluation of expressions.
    pub fn run(
        &mut self,
        program: &Program,
        stack: &mut Vec<Value>,
        output: &mut Vec<u8>,
        mut done: impl FnMut(&Operation),
    ) -> Stop {
        while let Some(operation) = self.current(program) {
            match self.perform(operation, program, stack, output) {
                Ok(Next::Operation) => {
                    done(operation);
                    self.operation += 1;
                }
                Ok(Next::At(to)) => {
                    done(operation);
                    self.operation = to;
                }
                Ok(Next::Answer) => return Stop::Sent,
                Ok(Next::Sleep(duration_ns)) => return Stop::Sleep(duration_ns),
                Err(fault) => return Stop::Faulted(fault),
            }
        }
        if self.in_pipeline {
            return Stop::Faulted(Fault::new("end of script reached with pipeline open"));
        }
        Stop::Finished
    }

    /// Ends a sleep; the next `run` continues after it.
    pub fn sleep_ended(&mut self) {
        self.operation += 1;
    }

    /// Rolls back what a failed script left open; the server will answer.
    pub fn roll_back(&mut self, output: &mut Vec<u8>) {
        if std::mem::take(&mut self.in_pipeline) {
            output.extend_from_slice(PIPELINE_ROLLBACK);
            self.outstanding.pipe();
            self.sync(output);
        }
        output.extend_from_slice(ROLLBACK);
        self.outstanding.sync();
    }

    /// Whether the failed statement was the last one sent.
    pub fn failed(&mut self) {
        self.in_pipeline = false;
        self.wants_rows = false;
    }

    #[must_use]
    pub fn in_pipeline(&self) -> bool {
        self.in_pipeline
    }

    /// Whether the last request ended with a Sync, not a Query.
    #[must_use]
    pub fn is_extended(&self, program: &Program) -> bool {
        if self.in_pipeline {
            return true;
        }
        let work = self.current(program).map(|operation| &operation.work);
        matches!(work, Some(OperationKind::Send { request, .. }) if request.is_extended())
    }

    /// File and line of the current operation, or of the last one at the end.
    #[must_use]
    pub fn place(&self, program: &Program) -> String {
        let scenario = program.scenarios.get(self.scenario);
        let file = scenario.map_or("?", |scenario| &scenario.file);
        let last = scenario.and_then(|scenario| scenario.operations.last());
        let line = self.current(program).or(last).map_or(0, |o| o.line);
        format!("{file}:{line}")
    }

    fn perform(
        &mut self,
        operation: &Operation,
        program: &Program,
        stack: &mut Vec<Value>,
        output: &mut Vec<u8>,
    ) -> Result<Next, Fault> {
        let names = &program.names;
        match &operation.work {
            OperationKind::Send { request, capture } => {
                return self.send(request, operation.number, capture.as_ref(), output);
            }
            OperationKind::Set {
                variable,
                expression,
            } => {
                let value = self.evaluate(expression, operation.command, program, stack)?;
                self.variables.set(*variable, Content::Value(value));
            }
            OperationKind::Unless { condition, to } => {
                if !self
                    .evaluate(condition, operation.command, program, stack)?
                    .is_true()
                {
                    return Ok(Next::At(*to));
                }
            }
            OperationKind::Jump(to) => return Ok(Next::At(*to)),
            OperationKind::Sleep(pause) => {
                let duration_ns = duration_ns(pause, names, &self.variables)?;
                if duration_ns > 0 {
                    return Ok(Next::Sleep(duration_ns));
                }
            }
            OperationKind::Shell(words) => shell::run(words, names, &self.variables)?,
            OperationKind::SetShell { variable, words } => {
                let value = Value::Int(shell::read(words, names, &self.variables)?);
                self.variables.set(*variable, Content::Value(value));
            }
            OperationKind::StartPipeline if self.in_pipeline => {
                return Err(Fault::new("already in pipeline mode"));
            }
            OperationKind::StartPipeline => self.in_pipeline = true,
            OperationKind::SyncPipeline | OperationKind::EndPipeline if !self.in_pipeline => {
                return Err(Fault::new("not in pipeline mode"));
            }
            OperationKind::SyncPipeline => self.sync(output),
            OperationKind::EndPipeline => {
                self.sync(output);
                return Ok(Next::Answer);
            }
            OperationKind::Refuse(problem) => return Err(Fault::new(*problem)),
        }
        Ok(Next::Operation)
    }

    fn send(
        &mut self,
        request: &Request,
        number: usize,
        capture: Option<&Capture>,
        output: &mut Vec<u8>,
    ) -> Result<Next, Fault> {
        if let Some(capture) = capture {
            if self.in_pipeline {
                let command = if capture.all { "aset" } else { "gset" };
                let problem = format!("\\{command} is not allowed in pipeline mode");
                return Err(Fault::new(problem));
            }
            self.results.clear();
        }
        let is_prepared = self.prepared.get(number).copied().unwrap_or(false);
        let mode = SendMode {
            is_prepared,
            with_sync: !self.in_pipeline,
        };
        request.write(&self.variables, mode, output)?;
        if !is_prepared && request.preparation().is_some() {
            self.outstanding.parse(number);
        }
        if self.in_pipeline {
            self.outstanding.pipe();
            return Ok(Next::Operation);
        }
        self.outstanding.sync();
        self.wants_rows = capture.is_some();
        Ok(Next::Answer)
    }

    fn sync(&mut self, output: &mut Vec<u8>) {
        output.extend_from_slice(SYNC);
        self.outstanding.sync();
    }

    fn evaluate(
        &mut self,
        expression: &Expression,
        command: usize,
        program: &Program,
        stack: &mut Vec<Value>,
    ) -> Result<Value, Fault> {
        expression.evaluate(&mut Context {
            names: &program.names,
            variables: &self.variables,
            random: &mut self.random,
            stack,
            place: (self.scenario, command),
        })
    }

    fn capture<'p>(&self, program: &'p Program) -> Option<&'p Capture> {
        match &self.current(program)?.work {
            OperationKind::Send { capture, .. } => capture.as_ref(),
            _ => None,
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
