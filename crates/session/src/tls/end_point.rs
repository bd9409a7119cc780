//! The channel binding `tls-server-end-point` of RFC 5929.
//!
//! Enters: the server's certificate. Leaves: its hash, by which SCRAM detects a man in the
//! middle. Never: trusts the certificate.

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};
use rustls::pki_types::CertificateDer;

use super::certificate::parse;

/// Hashes the certificate with the algorithm of its signature, or SHA-256 where that is weak.
pub(crate) fn tls_server_end_point(certificate: &CertificateDer<'_>) -> Result<Vec<u8>, String> {
    let parsed = parse(certificate)?;
    let oid = parsed.signature_algorithm.oid.to_string();
    let algorithm = hash_of(&oid).ok_or_else(|| {
        format!("its certificate is signed by {oid}, for which no channel binding is defined; use channel_binding=disable")
    })?;
    Ok(digest(algorithm, certificate).as_ref().to_vec())
}

fn hash_of(signature_algorithm: &str) -> Option<&'static Algorithm> {
    Some(match signature_algorithm {
        // RSA with MD5, SHA-1, SHA-256; ECDSA with SHA-1, SHA-256.
        "1.2.840.113549.1.1.4"
        | "1.2.840.113549.1.1.5"
        | "1.2.840.113549.1.1.11"
        | "1.2.840.10045.4.1"
        | "1.2.840.10045.4.3.2" => &SHA256,
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => &SHA384,
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" => &SHA512,
        _ => return None,
    })
}
