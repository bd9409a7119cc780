//! Verifies a server's certificate for rustls, by libpq's rules.
//!
//! Enters: certificates and signatures of a handshake. Leaves: acceptance, or the reason against.
//! Never: accepts a handshake that the certificate's key did not sign, whatever the sslmode.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use webpki::OwnedCertRevocationList;

use super::certificate::{is_algorithm, key_parts, parse, public_key};
use super::chain::Roots;
use super::host_name;

#[derive(Debug)]
pub(super) struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    /// None if any certificate is accepted.
    roots: Option<Roots>,
    lists: Vec<OwnedCertRevocationList>,
    /// The host that the certificate must be for, if the mode checks it.
    host: Option<String>,
}

impl Verifier {
    pub(super) fn new(
        algorithms: WebPkiSupportedAlgorithms,
        roots: Option<Roots>,
        lists: Vec<OwnedCertRevocationList>,
        host: Option<String>,
    ) -> Result<Verifier, String> {
        if host.as_deref() == Some("") {
            return Err("sslmode=verify-full needs a host name; give host beside hostaddr".into());
        }
        Ok(Verifier {
            algorithms,
            roots,
            lists,
            host,
        })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(roots) = &self.roots {
            roots
                .verify_chain(end_entity, intermediates, &self.lists, self.algorithms, now)
                .map_err(Error::General)?;
        }
        if let Some(host) = &self.host {
            let certificate = parse(end_entity).map_err(Error::General)?;
            host_name::check(&certificate, host).map_err(Error::General)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // Not by webpki, which would check more of the certificate than its key.
        let (key, key_algorithm) = parse(cert)
            .and_then(|certificate| key_parts(&certificate))
            .map_err(Error::General)?;
        let is_signed = self
            .algorithms
            .mapping
            .iter()
            .filter(|(scheme, _)| *scheme == dss.scheme)
            .flat_map(|(_, algorithms)| *algorithms)
            .filter(|algorithm| is_algorithm(&key_algorithm, algorithm.public_key_alg_id()))
            .any(|algorithm| {
                algorithm
                    .verify_signature(&key, message, dss.signature())
                    .is_ok()
            });
        if is_signed {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(CertificateError::BadSignature.into())
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = parse(cert)
            .and_then(|certificate| public_key(&certificate))
            .map_err(Error::General)?;
        verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
