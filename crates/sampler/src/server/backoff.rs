//! The pauses between attempts to reach a server again.
//!
//! Enters: failures, one after another. Leaves: the time until the next try. Never: gives up.

use std::time::{Duration, Instant};

use pgassay_session::SessionError;

const FIRST: Duration = Duration::from_millis(500);
/// A restart usually ends within this time, so attempts are frequent during it.
const QUICK_FOR: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(30);
/// Each refused login is a line in the server's log, and may count towards locking the account.
const REFUSED_LOGIN_PAUSE: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// Time of the first failure, and the latest pause.
    failing: Option<(Instant, Duration)>,
}

impl Backoff {
    /// How long to wait after a failure at `now`.
    pub(crate) fn after(&mut self, error: &SessionError, now: Instant) -> Duration {
        let (begun, last) = self.failing.unwrap_or((now, FIRST));
        let wait = if now.saturating_duration_since(begun) < QUICK_FOR {
            FIRST
        } else {
            (last * 2).min(LONGEST)
        };
        self.failing = Some((begun, wait));
        if is_refused_login(error) {
            REFUSED_LOGIN_PAUSE
        } else {
            wait
        }
    }

    /// Resets the pauses after a success.
    pub(crate) fn succeeded(&mut self) {
        self.failing = None;
    }
}

/// Whether the login is refused until somebody changes something: SQLSTATE classes 28
/// (authorization) and 3D (no such database), or a missing password.
fn is_refused_login(error: &SessionError) -> bool {
    let sqlstate = error.sqlstate().unwrap_or_default();
    sqlstate.starts_with("28")
        || sqlstate.starts_with("3D")
        || matches!(
            error,
            SessionError::PasswordMissing { .. }
                | SessionError::Authentication { .. }
                | SessionError::Untrusted { .. }
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> SessionError {
        SessionError::Lost {
            place: "h:1".into(),
            problem: "end of file".into(),
        }
    }

    /// The waits in seconds of a server that stays away for so long.
    fn waits(backoff: &mut Backoff, begun: Instant, seconds: u64) -> Vec<f64> {
        let mut now = begun;
        let mut waits = Vec::new();
        while now < begun + Duration::from_secs(seconds) {
            let wait = backoff.after(&lost(), now);
            waits.push(wait.as_secs_f64());
            now += wait;
        }
        waits
    }

    #[test]
    fn the_first_seconds_are_quick_and_then_it_waits_ever_longer_up_to_half_a_minute() {
        let mut backoff = Backoff::default();
        let waited = waits(&mut backoff, Instant::now(), 150);
        assert_eq!(waited[..10], [0.5; 10]);
        assert_eq!(
            waited[10..],
            [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0]
        );
    }

    #[test]
    fn after_a_success_it_is_quick_again() {
        let mut backoff = Backoff::default();
        let begun = Instant::now();
        waits(&mut backoff, begun, 60);
        backoff.succeeded();
        assert_eq!(
            backoff.after(&lost(), begun + Duration::from_secs(70)),
            FIRST
        );
    }

    #[test]
    fn a_login_without_a_password_is_not_tried_for_a_minute() {
        let error = SessionError::PasswordMissing {
            place: "h:1".into(),
        };
        let wait = Backoff::default().after(&error, Instant::now());
        assert_eq!(wait, REFUSED_LOGIN_PAUSE);
    }
}
