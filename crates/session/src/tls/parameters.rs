//! libpq's `ssl…` and `channel_binding` parameters.
//!
//! Enters: the `tls` object of an endpoint, with libpq's names. Leaves: [`TlsParameters`].
//! Never: reads a file, or shows `sslpassword`.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// How much the server must prove before anything is sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SslMode {
    #[default]
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SslNegotiation {
    /// Request TLS in PostgreSQL's protocol first.
    #[default]
    Postgres,
    /// Begin with the TLS handshake; works with servers from 17 on.
    Direct,
}

/// Whether a client certificate is sent to a server that asks for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SslCertMode {
    Disable,
    #[default]
    Allow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChannelBinding {
    Disable,
    #[default]
    Prefer,
    Require,
}

/// The TLS versions that libpq knows; those before 1.2 are not supported here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum TlsVersion {
    #[serde(rename = "TLSv1")]
    V1_0,
    #[serde(rename = "TLSv1.1")]
    V1_1,
    #[serde(rename = "TLSv1.2")]
    V1_2,
    #[serde(rename = "TLSv1.3")]
    V1_3,
}

/// libpq's parameters by their names; no default files are looked for.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TlsParameters {
    pub sslmode: SslMode,
    pub sslnegotiation: SslNegotiation,
    /// A file of certificates, or `system`.
    pub sslrootcert: Option<String>,
    pub sslcrl: Option<PathBuf>,
    pub sslcert: Option<PathBuf>,
    pub sslkey: Option<PathBuf>,
    pub sslpassword: Option<String>,
    pub sslcertmode: SslCertMode,
    pub sslsni: bool,
    pub ssl_min_protocol_version: Option<TlsVersion>,
    pub ssl_max_protocol_version: Option<TlsVersion>,
    pub channel_binding: ChannelBinding,
}

impl Default for TlsParameters {
    fn default() -> TlsParameters {
        TlsParameters {
            sslmode: SslMode::default(),
            sslnegotiation: SslNegotiation::default(),
            sslrootcert: None,
            sslcrl: None,
            sslcert: None,
            sslkey: None,
            sslpassword: None,
            sslcertmode: SslCertMode::default(),
            sslsni: true,
            ssl_min_protocol_version: None,
            ssl_max_protocol_version: None,
            channel_binding: ChannelBinding::default(),
        }
    }
}

impl SslMode {
    /// Whether the server's certificate must lead to a known root.
    pub(crate) fn verifies(self) -> bool {
        matches!(self, SslMode::VerifyCa | SslMode::VerifyFull)
    }

    /// Whether a session without TLS is refused.
    pub(crate) fn demands_tls(self) -> bool {
        self.verifies() || self == SslMode::Require
    }
}

impl TlsParameters {
    /// Why these parameters contradict each other, if they do.
    pub(crate) fn contradiction(&self) -> Option<String> {
        if self.sslnegotiation == SslNegotiation::Direct && !self.sslmode.demands_tls() {
            return Some(format!(
                "sslnegotiation=direct does not go with sslmode={}; use require, verify-ca or verify-full",
                self.sslmode
            ));
        }
        if self.wants_system_roots() && self.sslmode != SslMode::VerifyFull {
            return Some(format!(
                "sslrootcert=system does not go with sslmode={}; use verify-full",
                self.sslmode
            ));
        }
        if self
            .ssl_max_protocol_version
            .is_some_and(|version| version < TlsVersion::V1_2)
        {
            return Some(
                "ssl_max_protocol_version is below TLSv1.2, the oldest that pgassay speaks".into(),
            );
        }
        None
    }

    pub(crate) fn wants_system_roots(&self) -> bool {
        self.sslrootcert.as_deref() == Some("system")
    }
}

impl fmt::Display for SslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SslMode::Disable => "disable",
            SslMode::Allow => "allow",
            SslMode::Prefer => "prefer",
            SslMode::Require => "require",
            SslMode::VerifyCa => "verify-ca",
            SslMode::VerifyFull => "verify-full",
        })
    }
}

impl fmt::Debug for TlsParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsParameters")
            .field("sslmode", &self.sslmode)
            .field("sslrootcert", &self.sslrootcert)
            .field("sslcert", &self.sslcert)
            .field("channel_binding", &self.channel_binding)
            .finish_non_exhaustive()
    }
}
