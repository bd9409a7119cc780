//! jsonlog, one object a line.
//!
//! Enters: bytes from the start of a line. Leaves: its entry. Never: takes an object without a time
//! for one.

use std::borrow::Cow;

use serde::Deserialize;

use crate::entry::{Entry, Severity};
use crate::forms::{Step, line_length, without_end};
use crate::stamp::Stamps;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    pid: u64,
    #[serde(borrow, default)]
    session_id: Cow<'a, str>,
    #[serde(borrow, default)]
    user: Cow<'a, str>,
    #[serde(borrow, default)]
    dbname: Cow<'a, str>,
    #[serde(borrow, default)]
    application_name: Cow<'a, str>,
    #[serde(borrow, default)]
    error_severity: Cow<'a, str>,
    #[serde(borrow, default)]
    state_code: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow, default)]
    detail: Cow<'a, str>,
    #[serde(borrow, default)]
    statement: Cow<'a, str>,
}

#[derive(Default)]
pub(crate) struct JsonForm {
    stamps: Stamps,
}

impl JsonForm {
    pub(crate) fn step<F: FnMut(&Entry<'_>)>(
        &mut self,
        bytes: &[u8],
        _last: bool,
        found: &mut F,
    ) -> Step {
        // A line that is cut off is not read: half a number is another number.
        let Some(length) = line_length(bytes) else {
            return Step::More;
        };
        let line = without_end(&bytes[..length]);
        if line.is_empty() {
            return Step::Done(length);
        }
        let text = String::from_utf8_lossy(line);
        let Ok(read) = serde_json::from_str::<Line<'_>>(&text) else {
            return Step::Unread(length);
        };
        let Some((time_us, _)) = self.stamps.read(read.timestamp.as_bytes()) else {
            return Step::Unread(length);
        };
        if read.user.is_empty() && read.dbname.is_empty() {
            return Step::Done(length); // of a process of the server's own
        }
        let process = read.pid.to_string().into_bytes();
        let session = if read.session_id.is_empty() {
            process.clone()
        } else {
            read.session_id.as_bytes().to_vec()
        };
        found(&Entry {
            time_us,
            process: Cow::Owned(process),
            session: Cow::Owned(session),
            user: bytes_of(&read.user),
            database: bytes_of(&read.dbname),
            application: bytes_of(&read.application_name),
            severity: Severity::of(read.error_severity.as_bytes()),
            sqlstate: bytes_of(&read.state_code),
            message: bytes_of(&read.message),
            detail: bytes_of(&read.detail),
            statement: bytes_of(&read.statement),
        });
        Step::Done(length)
    }
}

fn bytes_of(text: &str) -> Cow<'_, [u8]> {
    Cow::Borrowed(text.as_bytes())
}
