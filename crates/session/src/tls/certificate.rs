//! Reads the fields of one certificate.
//!
//! Enters: DER. Leaves: the fields that libpq's rules depend on. Never: decides whether to trust it.

use std::time::Duration;

use rustls::pki_types::{AlgorithmIdentifier, CertificateDer, SubjectPublicKeyInfoDer, UnixTime};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode, Reader, SliceReader};
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage};
use x509_cert::spki::AlgorithmIdentifierOwned;

const BASIC_CONSTRAINTS: &str = "2.5.29.19";
const KEY_USAGE: &str = "2.5.29.15";

pub(super) fn parse(der: &CertificateDer<'_>) -> Result<Certificate, String> {
    Certificate::from_der(der).map_err(|error| format!("a certificate cannot be read: {error}"))
}

/// Whether issuer and subject have the same name.
pub(super) fn is_self_issued(certificate: &Certificate) -> bool {
    certificate.tbs_certificate.issuer == certificate.tbs_certificate.subject
}

pub(super) fn check_validity(certificate: &Certificate, now: UnixTime) -> Result<(), String> {
    let validity = &certificate.tbs_certificate.validity;
    let now = Duration::from_secs(now.as_secs());
    if now < validity.not_before.to_unix_duration() {
        Err("the certificate is not valid yet".to_owned())
    } else if now > validity.not_after.to_unix_duration() {
        Err("the certificate has expired".to_owned())
    } else {
        Ok(())
    }
}

/// Whether it may issue other certificates. Version 1 has no field that could forbid it.
pub(super) fn may_issue(certificate: &Certificate) -> bool {
    let Some(extensions) = &certificate.tbs_certificate.extensions else {
        return true;
    };
    let find = |oid: &str| {
        extensions
            .iter()
            .find(|extension| extension.extn_id.to_string() == oid)
            .map(|extension| extension.extn_value.as_bytes())
    };
    let is_authority = find(BASIC_CONSTRAINTS)
        .and_then(|der| BasicConstraints::from_der(der).ok())
        .is_some_and(|constraints| constraints.ca);
    let may_sign = find(KEY_USAGE)
        .is_none_or(|der| KeyUsage::from_der(der).is_ok_and(|usage| usage.key_cert_sign()));
    is_authority && may_sign
}

/// Whether every critical extension is one of `known`.
pub(super) fn has_only_critical(certificate: &Certificate, known: &[&str]) -> bool {
    let extensions = certificate.tbs_certificate.extensions.iter().flatten();
    extensions
        .filter(|extension| extension.critical)
        .all(|extension| known.contains(&extension.extn_id.to_string().as_str()))
}

/// The public key in the form of a TLS handshake.
pub(super) fn public_key(
    certificate: &Certificate,
) -> Result<SubjectPublicKeyInfoDer<'static>, String> {
    certificate
        .tbs_certificate
        .subject_public_key_info
        .to_der()
        .map(SubjectPublicKeyInfoDer::from)
        .map_err(|error| error.to_string())
}

/// The bits of the public key, and its algorithm as rustls names it.
pub(super) fn key_parts(certificate: &Certificate) -> Result<(Vec<u8>, Vec<u8>), String> {
    let key = &certificate.tbs_certificate.subject_public_key_info;
    Ok((
        key.subject_public_key.raw_bytes().to_vec(),
        bare(&key.algorithm)?,
    ))
}

/// An algorithm identifier without the header of its SEQUENCE.
pub(super) fn bare(algorithm: &AlgorithmIdentifierOwned) -> Result<Vec<u8>, String> {
    let der = algorithm.to_der().map_err(|error| error.to_string())?;
    let inner = || {
        let mut reader = SliceReader::new(&der)?;
        x509_cert::der::Header::decode(&mut reader)?;
        reader
            .read_slice(reader.remaining_len())
            .map(<[u8]>::to_vec)
    };
    inner().map_err(|error: x509_cert::der::Error| error.to_string())
}

pub(super) fn is_algorithm(bare: &[u8], wanted: AlgorithmIdentifier) -> bool {
    bare == wanted.as_ref()
}
