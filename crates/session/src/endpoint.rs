//! Where a server listens and whom to be there.
//!
//! Enters: the `connection` object of a configuration. Leaves: [`Endpoint`]. Never: shows the
//! password, in `Debug` or in a message.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::SessionError;

/// A server, a database and a user. A `host` that begins with `/` is a directory with a socket.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    pub host: String,
    pub port: u16,
    pub user: String,
    pub password: Option<String>,
    pub dbname: String,
    /// Command-line options for the backend, as in libpq: `-c search_path=bank`.
    #[serde(default)]
    pub options: String,
    #[serde(default = "default_connect_timeout_s")]
    pub connect_timeout_s: f64,
}

fn default_connect_timeout_s() -> f64 {
    10.0
}

/// Longer than anybody waits, short enough for every clock's arithmetic.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

impl Endpoint {
    pub(crate) fn socket_path(&self) -> Option<PathBuf> {
        self.host
            .starts_with('/')
            .then(|| PathBuf::from(format!("{}/.s.PGSQL.{}", self.host, self.port)))
    }

    /// The host as the resolver wants it: an IPv6 address without its brackets.
    pub(crate) fn host_name(&self) -> &str {
        self.host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or(&self.host)
    }

    pub(crate) fn connect_timeout(&self) -> Result<Duration, SessionError> {
        Duration::try_from_secs_f64(self.connect_timeout_s)
            .ok()
            .filter(|timeout| !timeout.is_zero())
            .map(|timeout| timeout.min(LONGEST_TIMEOUT))
            .ok_or_else(|| SessionError::Endpoint {
                place: self.to_string(),
                problem: format!(
                    "connect_timeout_s is {}; give a number of seconds above 0",
                    self.connect_timeout_s
                ),
            })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = (&self.host, self.port);
        if host.starts_with('/') {
            write!(f, "{host}/.s.PGSQL.{port}")?;
        } else if host.contains(':') && !host.starts_with('[') {
            write!(f, "[{host}]:{port}")?;
        } else {
            write!(f, "{host}:{port}")?;
        }
        write!(f, " (user \"{}\", database \"{}\")", self.user, self.dbname)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "***"))
            .field("dbname", &self.dbname)
            .field("options", &self.options)
            .field("connect_timeout_s", &self.connect_timeout_s)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(host: &str) -> Endpoint {
        let text = format!(
            r#"{{"host": "{host}", "port": 5432, "user": "u", "password": "s3cret", "dbname": "d"}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_password_is_never_shown() {
        let endpoint = endpoint("db.example");
        assert!(!format!("{endpoint:?}{endpoint}").contains("s3cret"));
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let endpoint = endpoint("db.example");
        assert_eq!(endpoint.options, "");
        assert_eq!(endpoint.connect_timeout().unwrap(), Duration::from_secs(10));
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let text = r#"{"host": "h", "port": 1, "user": "u", "dbname": "d", "sslmode": "require"}"#;
        let error = serde_json::from_str::<Endpoint>(text).unwrap_err();
        assert!(error.to_string().contains("sslmode"));
    }

    #[test]
    fn a_host_is_shown_as_one_would_type_it() {
        assert!(endpoint("::1").to_string().starts_with("[::1]:5432"));
        assert!(endpoint("[::1]").to_string().starts_with("[::1]:5432"));
        assert_eq!(endpoint("[::1]").host_name(), "::1");
        assert!(
            endpoint("/run/pg")
                .to_string()
                .starts_with("/run/pg/.s.PGSQL.5432 ")
        );
    }

    #[test]
    fn a_timeout_that_is_no_time_is_refused() {
        for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let endpoint = Endpoint {
                connect_timeout_s: seconds,
                ..endpoint("h")
            };
            assert!(endpoint.connect_timeout().is_err(), "{seconds}");
        }
    }
}
