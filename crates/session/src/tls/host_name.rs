//! Checks that a certificate is for the requested host, by libpq's rule.
//!
//! Enters: a certificate, the host as the user gave it. Leaves: acceptance, or the names it is for.
//! Never: looks a name up.
//!
//! The rule: the subject alternative names of the host's kind (DNS name or address) decide; if
//! there are none of that kind, the common name decides. `*.` stands for one label.

use std::net::IpAddr;

use x509_cert::Certificate;
use x509_cert::der::asn1::{Ia5StringRef, PrintableStringRef, TeletexStringRef, Utf8StringRef};
use x509_cert::der::{Any, Decode};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

const COMMON_NAME: &str = "2.5.4.3";
const SUBJECT_ALTERNATIVE_NAME: &str = "2.5.29.17";

pub(super) fn check(certificate: &Certificate, host: &str) -> Result<(), String> {
    let address: Option<IpAddr> = host.parse().ok();
    let mut names = Vec::new();
    let mut is_decided = false;
    for name in alternative_names(certificate)? {
        match name {
            GeneralName::DnsName(name) => {
                is_decided |= address.is_none();
                names.push(name.to_string());
            }
            GeneralName::IpAddress(octets) => {
                is_decided |= address.is_some();
                let Some(named) = address_of(octets.as_bytes()) else {
                    continue;
                };
                if address == Some(named) {
                    return Ok(());
                }
                names.push(named.to_string());
            }
            _ => {}
        }
    }
    if !is_decided {
        names.extend(common_name(certificate));
    }
    if names.iter().any(|name| is_match(name, host)) {
        return Ok(());
    }
    Err(if names.is_empty() {
        format!("the certificate names no host, so it cannot be that of \"{host}\"")
    } else {
        format!(
            "the certificate is for \"{}\", not for \"{host}\"",
            names.join("\", \"")
        )
    })
}

fn is_match(name: &str, host: &str) -> bool {
    // Programs that treat names as C strings would stop at a zero byte.
    if name.contains('\0') {
        return false;
    }
    if name.eq_ignore_ascii_case(host) {
        return true;
    }
    let Some(suffix) = name.strip_prefix('*').filter(|rest| rest.starts_with('.')) else {
        return false;
    };
    host.find('.').is_some_and(|dot| {
        dot > 0
            && suffix.len() > 1
            && host
                .get(dot..)
                .is_some_and(|rest| rest.eq_ignore_ascii_case(suffix))
    })
}

fn alternative_names(certificate: &Certificate) -> Result<Vec<GeneralName>, String> {
    let extensions = certificate.tbs_certificate.extensions.iter().flatten();
    let mut names = Vec::new();
    for extension in extensions {
        if extension.extn_id.to_string() == SUBJECT_ALTERNATIVE_NAME {
            let found = SubjectAltName::from_der(extension.extn_value.as_bytes())
                .map_err(|error| format!("the certificate's names cannot be read: {error}"))?;
            names.extend(found.0);
        }
    }
    Ok(names)
}

fn common_name(certificate: &Certificate) -> Option<String> {
    let parts = &certificate.tbs_certificate.subject.0;
    parts
        .iter()
        .flat_map(|part| part.0.iter())
        .find(|attribute| attribute.oid.to_string() == COMMON_NAME)
        .and_then(|attribute| text(&attribute.value))
}

fn text(value: &Any) -> Option<String> {
    let text = if let Ok(text) = value.decode_as::<Utf8StringRef<'_>>() {
        text.as_str().to_owned()
    } else if let Ok(text) = value.decode_as::<PrintableStringRef<'_>>() {
        text.as_str().to_owned()
    } else if let Ok(text) = value.decode_as::<Ia5StringRef<'_>>() {
        text.as_str().to_owned()
    } else {
        value
            .decode_as::<TeletexStringRef<'_>>()
            .ok()?
            .as_str()
            .to_owned()
    };
    Some(text)
}

fn address_of(octets: &[u8]) -> Option<IpAddr> {
    <[u8; 4]>::try_from(octets)
        .map(IpAddr::from)
        .or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from))
        .ok()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    use super::super::certificate::parse;
    use super::*;

    fn verdict(names: &[&str], common_name: Option<&str>, host: &str) -> Result<(), String> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        if let Some(name) = common_name {
            params.distinguished_name.push(DnType::CommonName, name);
        }
        params.subject_alt_names = names
            .iter()
            .map(|name| match name.parse() {
                Ok(address) => SanType::IpAddress(address),
                Err(_) => SanType::DnsName((*name).try_into().unwrap()),
            })
            .collect();
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        check(&parse(certificate.der()).unwrap(), host)
    }

    #[test]
    fn names_and_addresses_are_compared_as_libpq_compares_them() {
        for (names, common_name, host) in [
            (&["db.example"][..], None, "db.example"),
            (&["a", "db.example"], None, "DB.Example"),
            (&["*.example"], None, "db.example"),
            (&["127.0.0.1"], None, "127.0.0.1"),
            (&["::1"], None, "0:0::1"),
            (&[], Some("db.example"), "db.example"),
            (&[], Some("*.example"), "db.example"),
            (&[], Some("127.0.0.1"), "127.0.0.1"),
            // Names of the other kind leave the common name in force.
            (&["a.example"], Some("127.0.0.1"), "127.0.0.1"),
            (&["127.0.0.1"], Some("db.example"), "db.example"),
        ] {
            let verdict = verdict(names, common_name, host);
            assert_eq!(verdict, Ok(()), "{names:?} {common_name:?} {host}");
        }
        for (names, common_name, host) in [
            (&["db.example"][..], None, "db.example.org"),
            (&["*.example"], None, "a.b.example"),
            (&["*.example"], None, ".example"),
            (&["*.example"], None, "example"),
            (&["a.example"], Some("db.example"), "db.example"),
            (&["127.0.0.2"], Some("127.0.0.1"), "127.0.0.1"),
            (&[], None, "db.example"),
        ] {
            let verdict = verdict(names, common_name, host);
            assert!(verdict.is_err(), "{names:?} {common_name:?} {host}");
        }
        let words = verdict(&["a", "b"], None, "c").unwrap_err();
        assert_eq!(words, "the certificate is for \"a\", \"b\", not for \"c\"");
    }
}
