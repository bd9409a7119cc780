//! The operations that a script's commands come to.
//!
//! Enters: the commands of a checked script. Leaves: operations in which conditions are jumps.
//! Never: reads a condition while a load runs that the script's own order leaves out.

use crate::config::Protocol;
use crate::messages::Request;
use crate::script::{
    Action, Capture, Expression, Pause, Problem, Script, ShellWord, Slot, Statement,
};

const NO_PIPELINE: &str = "cannot use pipeline mode with the simple query protocol";

#[derive(Debug)]
pub struct Operation {
    pub line: usize,
    /// Counted as pgbench counts, from 1.
    pub command: usize,
    /// Of its command among those of all scenarios.
    pub number: usize,
    pub work: Work,
}

#[derive(Debug)]
pub enum Work {
    Send {
        request: Request,
        capture: Option<Capture>,
    },
    Set {
        variable: Slot,
        expression: Expression,
    },
    /// Goes on at the operation `to`, unless the condition holds.
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
    /// What the protocol does not have.
    Refuse(&'static str),
}

/// Makes operations. `first` is the number of the first command; `ask` makes the request of a
/// statement, its place and its number.
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
            Action::Sql(statement) => Work::Send {
                request: ask(&statement, command.offset, flow.number)?,
                capture: statement.capture,
            },
            Action::Set {
                variable,
                expression,
            } => Work::Set {
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
            Action::Sleep(pause) => Work::Sleep(pause),
            Action::Shell(words) => Work::Shell(words),
            Action::SetShell { variable, words } => Work::SetShell { variable, words },
            Action::StartPipeline if protocol == Protocol::Simple => {
                if flow.open.is_empty() {
                    return Err(Problem::new(
                        command.offset,
                        format!("{NO_PIPELINE}; use extended or prepared"),
                    ));
                }
                Work::Refuse(NO_PIPELINE)
            }
            Action::StartPipeline => Work::StartPipeline,
            Action::SyncPipeline => Work::SyncPipeline,
            Action::EndPipeline => Work::EndPipeline,
            // Became part of the statement before it.
            Action::Capture(_) => continue,
        };
        flow.push(work);
    }
    Ok(flow.operations)
}

/// Operations made so far, and the jumps among them whose aims are yet to come.
#[derive(Default)]
struct Flow {
    operations: Vec<Operation>,
    open: Vec<Open>,
    line: usize,
    command: usize,
    number: usize,
}

/// An `\if` without its `\endif` yet.
#[derive(Default)]
struct Open {
    /// The condition that jumps to the next `\elif`, `\else` or `\endif`.
    condition: Option<usize>,
    /// Ends of branches, which jump to the `\endif`.
    ends: Vec<usize>,
}

impl Flow {
    fn push(&mut self, work: Work) {
        self.operations.push(Operation {
            line: self.line,
            command: self.command,
            number: self.number,
            work,
        });
    }

    fn condition(&mut self, condition: Expression) {
        let at = self.operations.len();
        self.push(Work::Unless { condition, to: 0 });
        if let Some(open) = self.open.last_mut() {
            open.condition = Some(at);
        }
    }

    /// Ends the branch before an `\elif` or `\else`.
    fn end_branch(&mut self) {
        let at = self.operations.len();
        self.push(Work::Jump(0));
        let Some(open) = self.open.last_mut() else {
            return;
        };
        open.ends.push(at);
        let condition = open.condition.take();
        self.aim(condition);
    }

    fn end_conditions(&mut self) {
        let Some(open) = self.open.pop() else {
            return;
        };
        self.aim(open.condition.into_iter().chain(open.ends));
        // So that the \endif itself is seen to run.
        let behind = self.operations.len() + 1;
        self.push(Work::Jump(behind));
    }

    /// Makes jumps lead to the next operation.
    fn aim(&mut self, jumps: impl IntoIterator<Item = usize>) {
        let here = self.operations.len();
        for jump in jumps {
            let work = self.operations.get_mut(jump).map(|o| &mut o.work);
            if let Some(Work::Jump(to) | Work::Unless { to, .. }) = work {
                *to = here;
            }
        }
    }
}
