//! Compiles a script's commands to operations.
//!
//! Enters: the commands of a checked script. Leaves: operations in which conditions are jumps.
//! Never: evaluates a condition in a branch that is not taken.

use crate::config::Protocol;
use crate::messages::Request;
use crate::script::{
    Action, Capture, Expression, Pause, Problem, Script, ShellWord, Slot, Statement,
};

const NO_PIPELINE: &str = "cannot use pipeline mode with the simple query protocol";

#[derive(Debug)]
pub struct Operation {
    pub line: usize,
    /// Number of the line, counted from 1 as in pgbench.
    pub command: usize,
    /// Number of its command among those of all scenarios.
    pub number: usize,
    pub work: OperationKind,
}

#[derive(Debug)]
pub enum OperationKind {
    Send {
        request: Request,
        capture: Option<Capture>,
    },
    Set {
        variable: Slot,
        expression: Expression,
    },
    /// Jumps to the operation `to` unless the condition holds.
    Unless {
        condition: Expression,
        to: usize,
    },
    Jump(usize),
    Sleep(Pause),
    Shell(Vec<ShellWord>),
    SetShell {
        variable: Slot,
        words: Vec<ShellWord>,
    },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    /// The error for a command that the protocol does not support.
    Refuse(&'static str),
}

/// Compiles commands. `first` is the number of the first command; `ask` makes the request for a
/// statement from its offset and number.
pub fn operations(
    script: Script,
    protocol: Protocol,
    first: usize,
    ask: impl Fn(&Statement, usize, usize) -> Result<Request, Problem>,
) -> Result<Vec<Operation>, Problem> {
    let mut flow = Flow::default();
    for (index, command) in script.commands.into_iter().enumerate() {
        flow.line = command.line;
        flow.command = index + 1;
        flow.number = first + index;
        let work = match command.action {
            Action::Sql(statement) => OperationKind::Send {
                request: ask(&statement, command.offset, flow.number)?,
                capture: statement.capture,
            },
            Action::Set {
                variable,
                expression,
            } => OperationKind::Set {
                variable,
                expression,
            },
            Action::If(condition) => {
                flow.open.push(Open::default());
                flow.condition(condition);
                continue;
            }
            Action::Elif(condition) => {
                flow.end_branch();
                flow.condition(condition);
                continue;
            }
            Action::Else => {
                flow.end_branch();
                continue;
            }
            Action::Endif => {
                flow.end_conditions();
                continue;
            }
            Action::Sleep(pause) => OperationKind::Sleep(pause),
            Action::Shell(words) => OperationKind::Shell(words),
            Action::SetShell { variable, words } => OperationKind::SetShell { variable, words },
            Action::StartPipeline if protocol == Protocol::Simple => {
                if flow.open.is_empty() {
                    return Err(Problem::new(
                        command.offset,
                        format!("{NO_PIPELINE}; use extended or prepared"),
                    ));
                }
                OperationKind::Refuse(NO_PIPELINE)
            }
            Action::StartPipeline => OperationKind::StartPipeline,
            Action::SyncPipeline => OperationKind::SyncPipeline,
            Action::EndPipeline => OperationKind::EndPipeline,
            // Already part of the statement before it.
            Action::Capture(_) => continue,
        };
        flow.push(work);
    }
    Ok(flow.operations)
}

/// Operations made so far, and the jumps whose targets are not known yet.
#[derive(Default)]
struct Flow {
    operations: Vec<Operation>,
    open: Vec<Open>,
    line: usize,
    command: usize,
    number: usize,
}

/// An `\if` whose `\endif` was not read yet.
#[derive(Default)]
struct Open {
    /// The condition that jumps to the next `\elif`, `\else` or `\endif`.
    condition: Option<usize>,
    /// Ends of branches, which jump to the `\endif`.
    ends: Vec<usize>,
}

impl Flow {
    fn push(&mut self, work: OperationKind) {
        self.operations.push(Operation {
            line: self.line,
            command: self.command,
            number: self.number,
            work,
        });
    }

    fn condition(&mut self, condition: Expression) {
        let at = self.operations.len();
        self.push(OperationKind::Unless { condition, to: 0 });
        if let Some(open) = self.open.last_mut() {
            open.condition = Some(at);
        }
    }

    /// Ends the branch before an `\elif` or `\else`.
    fn end_branch(&mut self) {
        let at = self.operations.len();
        self.push(OperationKind::Jump(0));
        let Some(open) = self.open.last_mut() else {
            return;
        };
        open.ends.push(at);
        let condition = open.condition.take();
        self.set_targets(condition);
    }

    fn end_conditions(&mut self) {
        let Some(open) = self.open.pop() else {
            return;
        };
        self.set_targets(open.condition.into_iter().chain(open.ends));
        // So that the \endif is counted as a command too.
        let behind = self.operations.len() + 1;
        self.push(OperationKind::Jump(behind));
    }

    /// Sets the next operation as the target of these jumps.
    fn set_targets(&mut self, jumps: impl IntoIterator<Item = usize>) {
        let here = self.operations.len();
        for jump in jumps {
            let work = self.operations.get_mut(jump).map(|o| &mut o.work);
            if let Some(OperationKind::Jump(to) | OperationKind::Unless { to, .. }) = work {
                *to = here;
            }
        }
    }
}
