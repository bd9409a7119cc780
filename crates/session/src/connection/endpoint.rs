//! Where a server listens, and which user and database to connect to.
//!
//! Enters: the `connection` object of a configuration. Leaves: [`Endpoint`]. Never: shows the
//! password, in `Debug` or in a message.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::time::Duration;

use rustix::net::SocketAddrUnix;
use serde::Deserialize;

use crate::SessionError;
use crate::connection::keepalive::Keepalive;
use crate::tls::TlsParameters;

/// A server, a database and a user. A `host` that begins with `/` is a directory with a socket,
/// one that begins with `@` the same in the abstract namespace.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    pub host: String,
    /// Address to connect to instead of looking `host` up, as in libpq; empty for none.
    #[serde(default)]
    pub hostaddr: String,
    pub port: u16,
    pub user: String,
    pub password: Option<String>,
    pub dbname: String,
    /// Command-line options for the backend, as in libpq: `-c search_path=bank`.
    #[serde(default)]
    pub options: String,
    /// Settings that the start-up message names; poolers know some that way and no `options`.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    #[serde(default = "default_connect_timeout_s")]
    pub connect_timeout_s: f64,
    #[serde(default)]
    pub tls: TlsParameters,
    /// Accepted authentication methods, as libpq's `require_auth`; empty for any.
    #[serde(default)]
    pub require_auth: String,
    #[serde(default)]
    pub keepalive: Keepalive,
}

fn default_connect_timeout_s() -> f64 {
    10.0
}

/// Longer than any user waits, and short enough for the arithmetic of every clock.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

impl Endpoint {
    /// The address of the unix socket, if `host` names one.
    pub(crate) fn socket_address(&self) -> Option<io::Result<SocketAddrUnix>> {
        if !self.is_local() {
            return None;
        }
        let path = format!("{}/.s.PGSQL.{}", self.host, self.port);
        let address = match path.strip_prefix('@') {
            Some(name) => SocketAddrUnix::new_abstract_name(name.as_bytes()),
            None => SocketAddrUnix::new(path),
        };
        Some(address.map_err(io::Error::from))
    }

    /// Whether the server is reached over a unix socket, which has no TLS.
    pub(crate) fn is_local(&self) -> bool {
        self.hostaddr.is_empty() && self.host.starts_with(['/', '@'])
    }

    /// The host in the resolver's form: an IPv6 address without its brackets.
    pub(crate) fn host_name(&self) -> &str {
        if self.hostaddr.is_empty() {
            self.certificate_host()
        } else {
            &self.hostaddr
        }
    }

    /// The host that the server's certificate must be for.
    pub(crate) fn certificate_host(&self) -> &str {
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
        let host = if self.host.is_empty() {
            &self.hostaddr
        } else {
            &self.host
        };
        let port = self.port;
        if host.starts_with(['/', '@']) {
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
            .field("hostaddr", &self.hostaddr)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "***"))
            .field("dbname", &self.dbname)
            .field("options", &self.options)
            .field("parameters", &self.parameters)
            .field("connect_timeout_s", &self.connect_timeout_s)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::SslMode;

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
        let text = r#"{"host": "h", "port": 1, "user": "u", "dbname": "d", "sslmdoe": "require"}"#;
        let error = serde_json::from_str::<Endpoint>(text).unwrap_err();
        assert!(error.to_string().contains("sslmdoe"));
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
    fn libpqs_words_for_tls_are_read_and_others_refused() {
        let with = |tls: &str| {
            serde_json::from_str::<Endpoint>(&format!(
                r#"{{"host": "h", "port": 1, "user": "u", "dbname": "d", "tls": {tls}}}"#
            ))
        };
        let read = with(
            r#"{"sslmode": "verify-full", "sslrootcert": "/r", "sslpassword": "s3cret",
                "sslnegotiation": "direct", "ssl_min_protocol_version": "TLSv1.3"}"#,
        )
        .unwrap();
        assert_eq!(read.tls.sslmode, SslMode::VerifyFull);
        assert!(read.tls.sslsni);
        assert!(!format!("{read:?}").contains("s3cret"));
        for wrong in [
            r#"{"sslmode": "verify"}"#,
            r#"{"sslcertmode": "require"}"#,
            r#"{"sslcrldir": "/"}"#,
        ] {
            assert!(with(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sockets_may_be_abstract_and_an_address_replaces_a_lookup() {
        let local = endpoint("@pgassay");
        let address = local.socket_address().unwrap().unwrap();
        assert_eq!(address.abstract_name(), Some(&b"pgassay/.s.PGSQL.5432"[..]));
        let pinned = Endpoint {
            hostaddr: "10.0.0.1".into(),
            ..endpoint("/run/pg")
        };
        assert!(pinned.socket_address().is_none());
        assert_eq!(pinned.host_name(), "10.0.0.1");
        assert_eq!(pinned.certificate_host(), "/run/pg");
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
