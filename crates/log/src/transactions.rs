//! A session's statements become transactions.
//!
//! Enters: the statements of one session in order. Leaves: whole transactions for
//! [`crate::scenarios`]. Never: takes statements for a transaction that began before the log did:
//! those that a first COMMIT ends are counted apart.

use crate::call::{Call, Values, each_value};
use crate::counts::OfDatabase;
use crate::scenarios::Scenarios;
use crate::templates::{Templates, Verb, options_of_begin};

/// Statements of one transaction that are held.
const MOST: usize = 300;
/// Statements of a session without a transaction until it is known to have none open.
const UNSURE: usize = 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// The session is new in the log: it may be within a transaction.
    #[default]
    Unsure,
    None,
    Open,
    /// Its statements are too many: they are lost.
    TooLong,
}

/// The transaction that a session is in.
#[derive(Debug, Default)]
pub(crate) struct Open {
    state: State,
    calls: Vec<Call>,
    failed: bool,
    control_us: i64,
}

/// All that transactions are made into.
pub(crate) struct Gathering<'a> {
    pub(crate) scenarios: &'a mut Scenarios,
    pub(crate) templates: &'a mut Templates,
    pub(crate) counts: &'a mut OfDatabase,
    pub(crate) database: usize,
}

impl Open {
    /// Takes the next statement of the session.
    pub(crate) fn take(&mut self, call: Call, to: &mut Gathering<'_>) {
        let Some(number) = call.template else {
            to.scenarios.lose("too-many-texts", &call);
            return;
        };
        let pieces = to.templates.get(number).pieces.clone();
        if pieces.is_empty() {
            self.one(call, to);
            return;
        }
        // The server runs one message with several statements as one transaction, unless it has BEGIN.
        let controls = pieces.iter().any(|(number, _)| {
            let verb = to.templates.get(*number).verb;
            matches!(verb, Verb::Begin | Verb::Commit | Verb::Rollback)
        });
        let around = self.state == State::None && !controls;
        if around {
            self.state = State::Open;
        }
        let values: Vec<(u8, &[u8])> = each_value(&call.values.bytes).collect();
        for (index, (number, range)) in pieces.iter().enumerate() {
            let mut own = Values::default();
            for (tag, text) in values.get(range.clone()).unwrap_or_default() {
                own.push_raw(*tag, text);
            }
            self.one(
                Call {
                    duration_us: call.duration_us.map(|us| if index == 0 { us } else { 0 }),
                    template: Some(*number),
                    values: own,
                    start_us: if index == 0 {
                        call.start_us
                    } else {
                        call.end_us
                    },
                    text: Vec::new(),
                    name: Vec::new(),
                    ..call
                },
                to,
            );
        }
        if around {
            self.close(self.failed, to);
        }
    }

    fn one(&mut self, call: Call, to: &mut Gathering<'_>) {
        let Some(number) = call.template else { return };
        let duration_us = call.duration_us.unwrap_or(0);
        match to.templates.get(number).verb {
            Verb::Begin => {
                self.break_off(to);
                self.state = State::Open;
                self.control_us = duration_us;
                let options = options_of_begin(&to.templates.get(number).text);
                if let Some(options) = options {
                    self.calls.push(Call {
                        template: to.templates.own(options.as_bytes()),
                        duration_us: Some(0),
                        start_us: call.end_us,
                        values: Values::default(),
                        ..call
                    });
                }
            }
            Verb::Commit | Verb::Rollback => {
                let rolls_back = to.templates.get(number).verb == Verb::Rollback;
                self.control_us += duration_us;
                if self.state == State::Open {
                    self.close(rolls_back || self.failed || call.failed.is_some(), to);
                } else {
                    to.counts.partial += 1;
                    for call in self.calls.drain(..) {
                        to.scenarios.lose("partial-transaction", &call);
                    }
                    *self = Self::settled();
                }
            }
            Verb::Lost(reason) => to.scenarios.lose(reason, &call),
            Verb::Data | Verb::Kept => match self.state {
                State::TooLong => to.scenarios.lose("long-transaction", &call),
                State::None => alone(call, to),
                State::Open | State::Unsure => {
                    // Back to a savepoint a transaction is whole again.
                    let text = &to.templates.get(number).text;
                    let undone = text
                        .get(..8)
                        .is_some_and(|t| t.eq_ignore_ascii_case("rollback"));
                    self.failed = (self.failed && !undone) || call.failed.is_some();
                    self.calls.push(call);
                    if self.state == State::Unsure && self.calls.len() > UNSURE {
                        self.break_off(to);
                    } else if self.calls.len() > MOST {
                        self.state = State::TooLong;
                        for call in self.calls.drain(..) {
                            to.scenarios.lose("long-transaction", &call);
                        }
                    }
                }
            },
        }
    }

    fn settled() -> Self {
        Self {
            state: State::None,
            ..Self::default()
        }
    }

    fn close(&mut self, rolled_back: bool, to: &mut Gathering<'_>) {
        let whole = std::mem::replace(self, Self::settled());
        if rolled_back {
            to.counts.rollbacks += 1;
        } else {
            to.counts.commits += 1;
        }
        to.scenarios.add(
            to.database,
            true,
            rolled_back,
            &whole.calls,
            whole.control_us,
            to.templates,
        );
    }

    /// The session's end, or a BEGIN where none was due.
    pub(crate) fn break_off(&mut self, to: &mut Gathering<'_>) {
        let left = std::mem::replace(self, Self::settled());
        match left.state {
            State::Unsure | State::None => left.calls.into_iter().for_each(|call| alone(call, to)),
            State::TooLong => to.counts.partial += 1,
            State::Open => {
                to.counts.partial += 1;
                for call in &left.calls {
                    to.scenarios.lose("partial-transaction", call);
                }
            }
        }
    }
}

/// A statement that is a transaction by itself.
fn alone(call: Call, to: &mut Gathering<'_>) {
    let verb = call.template.map(|number| to.templates.get(number).verb);
    if verb == Some(Verb::Kept) {
        to.scenarios.lose("utility", &call);
        return;
    }
    if call.failed.is_some() {
        to.counts.rollbacks += 1;
    } else {
        to.counts.commits += 1;
    }
    to.scenarios
        .add(to.database, false, false, &[call], 0, to.templates);
}
