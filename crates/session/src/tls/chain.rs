//! Whether a certificate leads to a trusted root.
//!
//! Enters: the chain a server sent, the user's roots and revocation lists. Leaves: acceptance, or
//! the reason for refusal. Never: looks at host names.
//!
//! webpki does the work. It refuses two kinds of certificates that libpq accepts and that the
//! commands in PostgreSQL's documentation make: version 1, and those marked as an authority, such
//! as every self-signed certificate. These are checked here, and accepted only where a root has
//! issued them directly.

use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, TrustAnchor, UnixTime};
use webpki::{
    BorrowedCertRevocationList, CertRevocationList, EndEntityCert, KeyUsage,
    OwnedCertRevocationList, RevocationOptionsBuilder,
};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::ExtendedKeyUsage;

use super::certificate::{
    bare, check_validity, has_only_critical, is_algorithm, is_self_issued, key_parts, may_issue,
    parse,
};

const EXTENDED_KEY_USAGE: &str = "2.5.29.37";
const SERVER_AUTHENTICATION: &str = "1.3.6.1.5.5.7.3.1";
const ANY_USE: &str = "2.5.29.37.0";
/// Basic constraints, key usage, extended key usage, subject alternative name.
const UNDERSTOOD: &[&str] = &["2.5.29.19", "2.5.29.15", EXTENDED_KEY_USAGE, "2.5.29.17"];
/// A root with other critical extensions (name or policy constraints) is left to webpki.
const UNDERSTOOD_OF_ROOTS: &[&str] = &["2.5.29.19", "2.5.29.15"];

/// The certificates of `sslrootcert`.
#[derive(Debug)]
pub(super) struct Roots {
    roots: Vec<CertificateDer<'static>>,
    anchors: Vec<TrustAnchor<'static>>,
    /// Certificates beside the roots that are not roots themselves: OpenSSL builds chains with
    /// them, but does not let a chain end there.
    intermediates: Vec<CertificateDer<'static>>,
    source: String,
}

impl Roots {
    pub(super) fn new(
        certificates: Vec<CertificateDer<'static>>,
        source: String,
    ) -> Result<Roots, String> {
        let mut found = Roots {
            roots: Vec::new(),
            anchors: Vec::new(),
            intermediates: Vec::new(),
            source,
        };
        let now = UnixTime::now();
        for certificate in certificates {
            let parsed =
                parse(&certificate).map_err(|error| format!("{}: {error}", found.source))?;
            if is_self_issued(&parsed) {
                // webpki accepts expired roots; OpenSSL does not.
                let is_good = may_issue(&parsed) && check_validity(&parsed, now).is_ok();
                if is_good && let Ok(anchor) = webpki::anchor_from_trusted_cert(&certificate) {
                    found.anchors.push(anchor.to_owned());
                }
                found.roots.push(certificate);
            } else {
                found.intermediates.push(certificate);
            }
        }
        Ok(found)
    }

    pub(super) fn verify_chain(
        &self,
        certificate: &CertificateDer<'_>,
        sent: &[CertificateDer<'_>],
        lists: &[OwnedCertRevocationList],
        algorithms: WebPkiSupportedAlgorithms,
        now: UnixTime,
    ) -> Result<(), String> {
        if lists.is_empty()
            && self
                .roots
                .iter()
                .any(|root| root.as_ref() == certificate.as_ref())
        {
            return self.verify_direct(certificate, algorithms, now);
        }
        let intermediates: Vec<CertificateDer<'_>> = sent
            .iter()
            .chain(&self.intermediates)
            .map(|der| CertificateDer::from(der.as_ref()))
            .collect();
        let lists: Vec<CertRevocationList<'_>> = lists
            .iter()
            .map(|list| CertRevocationList::from(list.clone()))
            .collect();
        let lists: Vec<&CertRevocationList<'_>> = lists.iter().collect();
        // No certificate of the chain may be on a list, and every issuer must have a list.
        let revocation = RevocationOptionsBuilder::new(&lists).ok();
        let answer = EndEntityCert::try_from(certificate).and_then(|certificate| {
            certificate
                .verify_for_usage(
                    algorithms.all,
                    &self.anchors,
                    &intermediates,
                    now,
                    KeyUsage::server_auth(),
                    revocation.map(RevocationOptionsBuilder::build),
                    None,
                )
                .map(drop)
        });
        match answer {
            Ok(()) => Ok(()),
            Err(webpki::Error::UnsupportedCertVersion | webpki::Error::CaUsedAsEndEntity) => {
                if lists.is_empty() {
                    self.verify_direct(certificate, algorithms, now)
                } else {
                    Err("sslcrl cannot be used with a server certificate of version 1 or one marked as an authority; issue a version 3 certificate".to_owned())
                }
            }
            Err(error) => Err(self.explain(&error)),
        }
    }

    fn verify_direct(
        &self,
        der: &CertificateDer<'_>,
        algorithms: WebPkiSupportedAlgorithms,
        now: UnixTime,
    ) -> Result<(), String> {
        let certificate = parse(der)?;
        check_validity(&certificate, now)?;
        if !has_only_critical(&certificate, UNDERSTOOD) || !is_for_servers(&certificate) {
            return Err("the certificate is not one for servers".to_owned());
        }
        for root_der in &self.roots {
            if root_der.as_ref() == der.as_ref() {
                return Ok(());
            }
            let root = parse(root_der)?;
            if root.tbs_certificate.subject == certificate.tbs_certificate.issuer
                && may_issue(&root)
                && has_only_critical(&root, UNDERSTOOD_OF_ROOTS)
                && check_validity(&root, now).is_ok()
                && has_signed(&root, &certificate, algorithms)?
            {
                return Ok(());
            }
        }
        Err(self.explain(&webpki::Error::UnknownIssuer))
    }

    fn explain(&self, error: &webpki::Error) -> String {
        use webpki::Error;
        match error {
            Error::CertExpired { .. } => "the certificate has expired".to_owned(),
            Error::CertNotValidYet { .. } => "the certificate is not valid yet".to_owned(),
            Error::UnknownIssuer => {
                format!("the certificate is not signed by any in {}", self.source)
            }
            Error::CertRevoked => "the certificate is revoked".to_owned(),
            Error::UnknownRevocationStatus => {
                "sslcrl has no list of the certificate's issuer".to_owned()
            }
            other => format!("the certificate is not valid: {other:?}"),
        }
    }
}

fn is_for_servers(certificate: &Certificate) -> bool {
    let extensions = certificate.tbs_certificate.extensions.iter().flatten();
    extensions
        .filter(|extension| extension.extn_id.to_string() == EXTENDED_KEY_USAGE)
        .all(|extension| {
            ExtendedKeyUsage::from_der(extension.extn_value.as_bytes()).is_ok_and(|uses| {
                uses.0.iter().any(|usage| {
                    [SERVER_AUTHENTICATION, ANY_USE].contains(&usage.to_string().as_str())
                })
            })
        })
}

fn has_signed(
    issuer: &Certificate,
    certificate: &Certificate,
    algorithms: WebPkiSupportedAlgorithms,
) -> Result<bool, String> {
    let (key, key_algorithm) = key_parts(issuer)?;
    let signature_algorithm = bare(&certificate.signature_algorithm)?;
    let signed = certificate
        .tbs_certificate
        .to_der()
        .map_err(|error| error.to_string())?;
    let signature = certificate.signature.raw_bytes();
    Ok(algorithms
        .all
        .iter()
        .filter(|algorithm| {
            is_algorithm(&key_algorithm, algorithm.public_key_alg_id())
                && is_algorithm(&signature_algorithm, algorithm.signature_alg_id())
        })
        .any(|algorithm| algorithm.verify_signature(&key, &signed, signature).is_ok()))
}

/// A revocation list in webpki's form.
pub(super) fn revocation_list(der: &[u8]) -> Result<OwnedCertRevocationList, String> {
    BorrowedCertRevocationList::from_der(der)
        .and_then(|list| list.to_owned())
        .map_err(|error| format!("it has a revocation list that cannot be read ({error:?})"))
}
