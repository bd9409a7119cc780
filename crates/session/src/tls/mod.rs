//! TLS by rustls, under libpq's rules.
//!
//! Enters: [`TlsParameters`] and a connected socket. Leaves: a [`TlsStream`] on which the server
//! has proved what the parameters require. Never: departs from libpq's rules of trust.

mod certificate;
mod chain;
mod end_point;
mod files;
mod host_name;
mod parameters;
mod stream;
mod verifier;

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, IpAddr, Ipv4Addr, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, ClientConnection, SupportedProtocolVersion, version};

pub(crate) use end_point::tls_server_end_point;
pub use parameters::{
    ChannelBinding, SslCertMode, SslMode, SslNegotiation, TlsParameters, TlsVersion,
};
pub use stream::{Reception, TlsStream};

use verifier::Verifier;

const ALPN: &[u8] = b"postgresql";

/// All that a handshake needs, read from files once.
#[derive(Debug)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
    server_name: ServerName<'static>,
    needs_alpn: bool,
}

impl Tls {
    /// `host` is the name the server must prove, as the user gave it.
    pub(crate) fn prepare(parameters: &TlsParameters, host: &str) -> Result<Tls, String> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Verifier::new(
            provider.signature_verification_algorithms,
            files::roots(parameters)?,
            files::revocation_lists(parameters)?,
            (parameters.sslmode == SslMode::VerifyFull).then(|| host.to_owned()),
        )?;
        let builder = ClientConfig::builder_with_provider(Arc::<CryptoProvider>::clone(&provider))
            .with_protocol_versions(&versions(parameters)?)
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match files::identity(parameters)? {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let certified = certified(&provider, chain, key)?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(certified)))
            }
        };
        config.alpn_protocols = vec![ALPN.to_vec()];
        // PostgreSQL issues no session tickets, and a cache would cost memory per connection.
        config.resumption = Resumption::disabled();
        let server_name = ServerName::try_from(host.to_owned());
        config.enable_sni = parameters.sslsni && server_name.is_ok();
        Ok(Tls {
            config: Arc::new(config),
            // Used for SNI only: the verifier checks the host by libpq's rule.
            server_name: server_name
                .unwrap_or(ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([0; 4])))),
            needs_alpn: parameters.sslnegotiation == SslNegotiation::Direct,
        })
    }

    pub(crate) fn handshake(&self, socket: TcpStream, deadline: Instant) -> io::Result<TlsStream> {
        let connection = ClientConnection::new(Arc::clone(&self.config), self.server_name.clone())
            .map_err(io::Error::other)?;
        let stream = TlsStream::handshake(connection, socket, deadline)?;
        if self.needs_alpn && !stream.has_protocol(ALPN) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                rustls::Error::General(
                    "it does not know PostgreSQL by name (ALPN), which sslnegotiation=direct needs"
                        .to_owned(),
                ),
            ));
        }
        Ok(stream)
    }
}

/// Checks the key here, because rustls would check more of the certificate than libpq does.
fn certified(
    provider: &CryptoProvider,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<CertifiedKey, String> {
    let key = provider
        .key_provider
        .load_private_key(key)
        .map_err(|error| format!("sslkey holds a key that cannot be used: {error}"))?;
    let shown = match chain.first() {
        Some(first) => certificate::parse(first)
            .and_then(|parsed| certificate::public_key(&parsed))
            .map_err(|problem| format!("sslcert: {problem}"))?,
        None => return Err("sslcert holds no certificate".to_owned()),
    };
    if key.public_key().is_some_and(|own| own != shown) {
        return Err("sslkey is not the key of sslcert".to_owned());
    }
    Ok(CertifiedKey::new(chain, key))
}

fn versions(parameters: &TlsParameters) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let least = parameters
        .ssl_min_protocol_version
        .unwrap_or(TlsVersion::V1_2);
    let most = parameters
        .ssl_max_protocol_version
        .unwrap_or(TlsVersion::V1_3);
    let known = [
        (TlsVersion::V1_2, &version::TLS12),
        (TlsVersion::V1_3, &version::TLS13),
    ];
    let wanted: Vec<_> = known
        .into_iter()
        .filter(|(version, _)| (least..=most).contains(version))
        .map(|(_, version)| version)
        .collect();
    if wanted.is_empty() {
        return Err("ssl_min_protocol_version is above ssl_max_protocol_version".to_owned());
    }
    Ok(wanted)
}
