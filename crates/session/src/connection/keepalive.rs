//! TCP keepalives, by libpq's parameters: how the kernel notices that a peer is gone.
//!
//! Enters: the `keepalive` object of an endpoint. Leaves: a socket with these options set. Never:
//! sets its own defaults; 0 keeps the system's.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
    set_tcp_user_timeout,
};
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keepalive {
    /// libpq's `keepalives`.
    pub enabled: bool,
    pub idle_s: u32,
    pub interval_s: u32,
    pub count: u32,
    /// libpq's `tcp_user_timeout`.
    pub user_timeout_ms: u32,
}

impl Default for Keepalive {
    fn default() -> Keepalive {
        Keepalive {
            enabled: true,
            idle_s: 0,
            interval_s: 0,
            count: 0,
            user_timeout_ms: 0,
        }
    }
}

impl Keepalive {
    pub(crate) fn apply(&self, socket: &TcpStream) -> io::Result<()> {
        if self.user_timeout_ms > 0 {
            set_tcp_user_timeout(socket, self.user_timeout_ms)?;
        }
        if !self.enabled {
            return Ok(());
        }
        set_socket_keepalive(socket, true)?;
        if self.idle_s > 0 {
            set_tcp_keepidle(socket, Duration::from_secs(self.idle_s.into()))?;
        }
        if self.interval_s > 0 {
            set_tcp_keepintvl(socket, Duration::from_secs(self.interval_s.into()))?;
        }
        if self.count > 0 {
            set_tcp_keepcnt(socket, self.count)?;
        }
        Ok(())
    }
}
