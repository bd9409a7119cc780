//! What a client does at a moment.
//!
//! Enters: nothing. Leaves: [`State`]. Never: holds what the state is about.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Between transactions, with no statement running.
    Idle,
    /// Statements of a slice's variant are running.
    Switching,
    /// A statement of a transaction is running.
    Waiting,
    /// The script of a transaction sleeps.
    Sleeping,
    /// The ROLLBACK of a failed transaction is running; the transaction may then be tried again.
    RollingBack { retries: bool },
    /// The connection is lost; another is opened after a pause.
    Lost,
    /// Another connection is being opened.
    Opening,
    /// The connection is lost and will not be opened again.
    Gone,
}
