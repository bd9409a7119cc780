//! Reads the files that libpq's parameters name, by libpq's rules.
//!
//! Enters: [`TlsParameters`]. Leaves: roots, revocation lists, the client certificate. Never:
//! looks for a file that is not named; the caller fills in libpq's default paths.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use pkcs8::EncryptedPrivateKeyInfo;
use pkcs8::der::pem::PemLabel;
use pkcs8::der::{Decode, SecretDocument};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer, PrivatePkcs8KeyDer,
};
use webpki::OwnedCertRevocationList;

use super::certificate::parse;
use super::chain::{Roots, revocation_list};
use super::parameters::{SslCertMode, TlsParameters};

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The trusted roots; None where there are none and the mode does not require them.
pub(super) fn roots(parameters: &TlsParameters) -> Result<Option<Roots>, String> {
    if parameters.wants_system_roots() {
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            return Err("sslrootcert=system: this system has no trusted certificates; install ca-certificates, or set SSL_CERT_FILE".to_owned());
        }
        let source = "the trusted certificates of this system".to_owned();
        // A certificate of the system that cannot be read is left out; the others are used.
        let certificates = found.certs.into_iter();
        let readable = certificates.filter(|certificate| parse(certificate).is_ok());
        return Roots::new(readable.collect(), source).map(Some);
    }
    let mode = parameters.sslmode;
    let path = parameters.sslrootcert.as_deref().unwrap_or_default();
    if metadata(Path::new(path), "sslrootcert").is_ok_and(|found| found.is_some()) {
        let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect)
            .map_err(|error| format!("sslrootcert {path} cannot be read: {error}"))?;
        if certificates.is_empty() {
            return Err(format!("sslrootcert {path} holds no certificate"));
        }
        return Roots::new(certificates, path.to_owned()).map(Some);
    }
    if mode.verifies() {
        let missing = if path.is_empty() {
            "none is named".to_owned()
        } else {
            format!("{path} does not exist")
        };
        return Err(format!(
            "sslmode={mode} needs root certificates and {missing}; give sslrootcert=FILE, or system with verify-full"
        ));
    }
    Ok(None)
}

/// The revocation lists; as in libpq, a missing file is no error.
pub(super) fn revocation_lists(
    parameters: &TlsParameters,
) -> Result<Vec<OwnedCertRevocationList>, String> {
    let Some(path) = parameters.sslcrl.as_deref() else {
        return Ok(Vec::new());
    };
    if metadata(path, "sslcrl")?.is_none() {
        return Ok(Vec::new());
    }
    let place = path.display();
    let lists: Vec<_> = CertificateRevocationListDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| format!("sslcrl {place} cannot be read: {error}"))?;
    lists
        .iter()
        .map(|list| revocation_list(list).map_err(|problem| format!("sslcrl {place}: {problem}")))
        .collect()
}

/// The client's certificates and key; None if there is no certificate to send.
pub(super) fn identity(parameters: &TlsParameters) -> Result<Option<Identity>, String> {
    let Some(path) = parameters.sslcert.as_deref() else {
        return Ok(None);
    };
    if parameters.sslcertmode == SslCertMode::Disable || metadata(path, "sslcert")?.is_none() {
        return Ok(None);
    }
    let place = path.display();
    let chain: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| format!("sslcert {place} cannot be read: {error}"))?;
    if chain.is_empty() {
        return Err(format!("sslcert {place} holds no certificate"));
    }
    let Some(key_path) = parameters.sslkey.as_deref() else {
        return Err(format!("sslcert {place} has no sslkey beside it"));
    };
    key(key_path, parameters.sslpassword.as_deref()).map(|key| Some((chain, key)))
}

fn key(path: &Path, password: Option<&str>) -> Result<PrivateKeyDer<'static>, String> {
    let place = path.display();
    let Some(found) = metadata(path, "sslkey")? else {
        return Err(format!("sslcert exists, but its sslkey {place} does not"));
    };
    check_permissions(&found).map_err(|problem| format!("sslkey {place} {problem}"))?;
    let bytes = fs::read(path).map_err(|error| format!("sslkey {place}: {error}"))?;
    if let Ok(key) = PrivateKeyDer::from_pem_slice(&bytes) {
        // A key encrypted in OpenSSL's old format has the same label as a plain key.
        if !contains(&bytes, b"Proc-Type: 4,ENCRYPTED") {
            return Ok(key);
        }
    }
    if contains(&bytes, b"Proc-Type: 4,ENCRYPTED") {
        return Err(format!(
            "sslkey {place} is encrypted in OpenSSL's old way; turn it into PKCS #8: openssl pkcs8 -topk8 -in KEY"
        ));
    }
    if contains(&bytes, EncryptedPrivateKeyInfo::PEM_LABEL.as_bytes()) {
        return decrypt(&bytes, password).map_err(|problem| format!("sslkey {place} {problem}"));
    }
    // libpq tries DER where PEM fails.
    PrivateKeyDer::try_from(bytes)
        .map_err(|_| format!("sslkey {place} holds no private key in PEM or DER"))
}

fn decrypt(pem: &[u8], password: Option<&str>) -> Result<PrivateKeyDer<'static>, String> {
    let Some(password) = password else {
        return Err("is encrypted; give sslpassword".to_owned());
    };
    let text = String::from_utf8_lossy(pem);
    let (_, document) =
        SecretDocument::from_pem(&text).map_err(|error| format!("cannot be read: {error}"))?;
    let info = EncryptedPrivateKeyInfo::from_der(document.as_bytes())
        .map_err(|error| format!("cannot be read: {error}"))?;
    let key = info
        .decrypt(password)
        .map_err(|error| format!("cannot be decrypted with sslpassword: {error}"))?;
    Ok(PrivatePkcs8KeyDer::from(key.as_bytes().to_vec()).into())
}

/// A private key may be readable by its owner only; one that root owns also by its group.
fn check_permissions(found: &Metadata) -> Result<(), &'static str> {
    if !found.is_file() {
        return Err("is not a regular file");
    }
    let forbidden = if found.uid() == 0 { 0o037 } else { 0o077 };
    if found.mode() & forbidden == 0 {
        Ok(())
    } else {
        Err("may be read by others; chmod 600 it (640 where root owns it)")
    }
}

/// The bytes of a file; None if the file or a directory of its path does not exist.
fn metadata(path: &Path, parameter: &str) -> Result<Option<Metadata>, String> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(format!("{parameter} {}: {error}", path.display())),
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
