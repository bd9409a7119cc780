//! Every sslmode against servers good and bad: what libpq does is what must happen.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are tests, which clippy cannot know"
)]

mod lab;

use lab::{Behaviour, Certified, Folder, authority, expired, params, serve, signed, tls};
use pgassay_session::{Endpoint, Session, SessionError};
use rcgen::KeyPair;
use serde_json::{Value, json};

const MODES: [&str; 6] = [
    "disable",
    "allow",
    "prefer",
    "require",
    "verify-ca",
    "verify-full",
];

/// "tls" or "plain", or the error in words.
fn outcome(endpoint: &Endpoint) -> String {
    match Session::open(endpoint, "test") {
        Ok(session) => {
            let kind = if session.backend_pid() == 443 {
                "tls"
            } else {
                "plain"
            };
            assert_eq!(session.into_stream().is_plain(), kind == "plain");
            kind.to_owned()
        }
        Err(error) => error.to_string(),
    }
}

fn outcomes(behaviour: &Behaviour, more: &Value) -> Vec<String> {
    MODES
        .iter()
        .map(|mode| {
            let mut tls = more.clone();
            tls["sslmode"] = json!(mode);
            outcome(&serve(behaviour.clone(), tls))
        })
        .collect()
}

/// Each outcome is, or contains, what is expected.
fn assert_outcomes(behaviour: &Behaviour, more: &Value, expected: [&str; 6]) {
    let found = outcomes(behaviour, more);
    for ((mode, found), expected) in MODES.iter().zip(&found).zip(expected) {
        let is_word = matches!(expected, "tls" | "plain");
        let fits = found == expected || (!is_word && found.contains(expected));
        assert!(fits, "sslmode={mode}: {found}, not {expected}");
        assert!(!found.contains('\n'));
    }
}

fn encrypted(certified: &Certified) -> Behaviour {
    Behaviour {
        tls: Some(tls(certified, None, true)),
        ..Behaviour::default()
    }
}

#[test]
fn a_good_certificate_satisfies_every_mode() {
    let folder = Folder::new("good");
    let ours = authority("ours");
    let behaviour = encrypted(&signed(&params("localhost"), &ours));
    let root = json!({"sslrootcert": folder.file("root.crt", &ours.pem(), 0o644)});
    let expected = ["plain", "plain", "tls", "tls", "tls", "tls"];
    assert_outcomes(&behaviour, &root, expected);
}

#[test]
fn without_a_root_file_only_verifying_modes_fail() {
    let folder = Folder::new("rootless");
    let behaviour = encrypted(&signed(&params("localhost"), &authority("ours")));
    let missing = "does not exist; give sslrootcert";
    let expected = ["plain", "plain", "tls", "tls", missing, missing];
    let path = folder.path().join("none.crt");
    assert_outcomes(&behaviour, &json!({"sslrootcert": path}), expected);
}

#[test]
fn a_root_file_that_does_not_fit_is_heeded_by_every_mode() {
    let folder = Folder::new("wrong");
    let behaviour = encrypted(&signed(&params("localhost"), &authority("ours")));
    let theirs = folder.file("root.crt", &authority("theirs").pem(), 0o644);
    let unknown = "is not signed by any in";
    // With prefer, what TLS cannot have goes on without, as in libpq.
    let expected = ["plain", "plain", "plain", unknown, unknown, unknown];
    assert_outcomes(&behaviour, &json!({"sslrootcert": theirs}), expected);
}

#[test]
fn an_expired_certificate_and_one_of_another_host_are_told_apart() {
    let folder = Folder::new("names");
    let ours = authority("ours");
    let root = json!({"sslrootcert": folder.file("root.crt", &ours.pem(), 0o644)});
    let behaviour = encrypted(&signed(&expired("localhost"), &ours));
    let late = "the certificate has expired";
    assert_outcomes(
        &behaviour,
        &root,
        ["plain", "plain", "plain", late, late, late],
    );
    let behaviour = encrypted(&signed(&params("db.example"), &ours));
    let other = "is for \"db.example\", not for \"localhost\"";
    assert_outcomes(
        &behaviour,
        &root,
        ["plain", "plain", "tls", "tls", "tls", other],
    );
}

#[test]
fn a_root_that_has_expired_or_is_no_root_vouches_for_nobody() {
    let folder = Folder::new("roots");
    let with = |signer: &lab::Authority, root: String| {
        let tls = json!({"sslmode": "verify-ca", "sslrootcert": root});
        outcome(&serve(
            encrypted(&signed(&params("localhost"), signer)),
            tls,
        ))
    };
    let old = lab::expired_authority("old");
    let found = with(&old, folder.file("old.crt", &old.pem(), 0o644));
    assert!(found.contains("is not signed by any in"), "{found}");
    // An intermediate authority alone is no root; with its root beside it, it is of use.
    let ours = authority("ours");
    let middle = lab::authority_under("middle", &ours);
    let alone = with(&middle, folder.file("middle.crt", &middle.pem(), 0o644));
    assert!(alone.contains("is not signed by any in"), "{alone}");
    let both = format!("{}{}", middle.pem(), ours.pem());
    assert_eq!(with(&middle, folder.file("both.crt", &both, 0o644)), "tls");
}

#[test]
fn a_certificate_that_signs_itself_is_trusted_where_it_is_the_root() {
    let folder = Folder::new("selfsigned");
    let mut itself = params("localhost");
    itself.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    for params in [params("localhost"), itself] {
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let root = folder.file("root.crt", &certificate.pem(), 0o644);
        let chain = vec![certificate.der().clone()];
        let pem = certificate.pem();
        let behaviour = encrypted(&Certified { chain, key, pem });
        let expected = ["plain", "plain", "tls", "tls", "tls", "tls"];
        assert_outcomes(&behaviour, &json!({"sslrootcert": root}), expected);
    }
}

#[test]
fn a_server_without_tls_is_refused_where_the_mode_says_so() {
    let no = "does not offer TLS";
    let expected = ["plain", "plain", "plain", no, no, no];
    assert_outcomes(&Behaviour::default(), &json!({}), expected);
}

#[test]
fn what_the_server_refuses_one_way_is_tried_the_other() {
    let certified = signed(&params("localhost"), &authority("ours"));
    let missing = "none is named";
    let only_tls = Behaviour {
        refuses_plain: true,
        ..encrypted(&certified)
    };
    let refused = "28000";
    assert_outcomes(
        &only_tls,
        &json!({}),
        [refused, "tls", "tls", "tls", missing, missing],
    );
    let only_plain = Behaviour {
        refuses_tls: true,
        ..encrypted(&certified)
    };
    let expected = ["plain", "plain", "plain", refused, missing, missing];
    assert_outcomes(&only_plain, &json!({}), expected);
}

#[test]
fn a_refusal_after_authentication_is_final() {
    let behaviour = Behaviour {
        has_no_database: true,
        ..encrypted(&signed(&params("localhost"), &authority("ours")))
    };
    for mode in ["allow", "prefer"] {
        let endpoint = serve(behaviour.clone(), json!({"sslmode": mode}));
        let error = Session::open(&endpoint, "test").err().unwrap();
        assert!(matches!(error, SessionError::Refused { .. }), "{error}");
        assert_eq!(error.sqlstate(), Some("3D000"));
    }
}

#[test]
fn a_server_that_demands_a_certificate_gets_the_one_named() {
    let folder = Folder::new("client");
    let ours = authority("ours");
    let certified = signed(&params("localhost"), &ours);
    let behaviour = Behaviour {
        tls: Some(tls(&certified, Some(&ours), true)),
        ..Behaviour::default()
    };
    let alert = "CertificateRequired";
    let without = outcome(&serve(behaviour.clone(), json!({"sslmode": "require"})));
    assert!(without.contains(alert), "{without}");

    let client = signed(&params("client"), &ours);
    let certificate = folder.file("client.crt", &client.pem, 0o644);
    let with = |key: String, more: Value| {
        let mut tls = json!({"sslmode": "require", "sslcert": certificate, "sslkey": key});
        tls.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        outcome(&serve(behaviour.clone(), tls))
    };
    let key = client.key.serialize_pem();
    assert_eq!(with(folder.file("a.key", &key, 0o600), json!({})), "tls");
    let open = with(folder.file("b.key", &key, 0o644), json!({}));
    assert!(open.contains("may be read by others"), "{open}");
    let missing = with("/nonexistent/key".into(), json!({}));
    assert!(
        missing.contains("sslkey /nonexistent/key does not"),
        "{missing}"
    );
    let other = KeyPair::generate().unwrap().serialize_pem();
    let other = with(folder.file("e.key", &other, 0o600), json!({}));
    assert!(other.contains("is not the key of sslcert"), "{other}");
    let withheld = with(
        folder.file("c.key", &key, 0o600),
        json!({"sslcertmode": "disable"}),
    );
    assert!(withheld.contains(alert), "{withheld}");

    let info = pkcs8::PrivateKeyInfo::try_from(client.key.serialized_der()).unwrap();
    let scrypt = pkcs8::pkcs5::scrypt::Params::new(4, 8, 1, 32).unwrap();
    let cipher =
        pkcs8::pkcs5::pbes2::Parameters::scrypt_aes256cbc(scrypt, &[1; 16], &[2; 16]).unwrap();
    let secret = info.encrypt_with_params(cipher, "hush").unwrap();
    let pem = secret
        .to_pem("ENCRYPTED PRIVATE KEY", pkcs8::LineEnding::LF)
        .unwrap();
    let locked = folder.file("d.key", &pem, 0o600);
    assert_eq!(with(locked.clone(), json!({"sslpassword": "hush"})), "tls");
    let closed = with(locked.clone(), json!({}));
    assert!(closed.contains("give sslpassword"), "{closed}");
    let wrong = with(locked, json!({"sslpassword": "hash"}));
    assert!(wrong.contains("cannot be decrypted"), "{wrong}");
}

#[test]
fn a_revoked_certificate_is_refused() {
    let folder = Folder::new("revoked");
    let ours = authority("ours");
    let behaviour = encrypted(&signed(&params("localhost"), &ours));
    let root = folder.file("root.crt", &ours.pem(), 0o644);
    let with = |list: String| {
        let tls = json!({"sslmode": "verify-full", "sslrootcert": root, "sslcrl": list});
        outcome(&serve(behaviour.clone(), tls))
    };
    let none = folder.file("a.crl", &lab::revocation_list(&ours, &[8]), 0o644);
    assert_eq!(with(none), "tls");
    let it = folder.file("b.crl", &lab::revocation_list(&ours, &[7]), 0o644);
    assert!(with(it.clone()).contains("is revoked"), "{}", with(it));
    assert_eq!(with("/nonexistent.crl".into()), "tls", "as in libpq");
}

#[test]
fn direct_negotiation_needs_a_server_that_knows_the_name() {
    let certified = signed(&params("localhost"), &authority("ours"));
    let direct = |alpn| Behaviour {
        tls: Some(tls(&certified, None, alpn)),
        is_direct: true,
        ..Behaviour::default()
    };
    let how = json!({"sslmode": "require", "sslnegotiation": "direct"});
    assert_eq!(outcome(&serve(direct(true), how.clone())), "tls");
    let nameless = outcome(&serve(direct(false), how));
    assert!(nameless.contains("ALPN"), "{nameless}");
    let weak = json!({"sslmode": "prefer", "sslnegotiation": "direct"});
    let weak = outcome(&serve(direct(true), weak));
    assert!(weak.contains("does not go with sslmode=prefer"), "{weak}");
}

#[test]
fn versions_and_system_roots_are_heeded() {
    let behaviour = encrypted(&signed(&params("localhost"), &authority("ours")));
    let with = |tls: Value| outcome(&serve(behaviour.clone(), tls));
    for (least, most, expected) in [
        ("TLSv1", "TLSv1.2", "tls"),
        ("TLSv1.3", "TLSv1.3", "tls"),
        ("TLSv1.3", "TLSv1.2", "above ssl_max_protocol_version"),
        ("TLSv1", "TLSv1.1", "below TLSv1.2"),
    ] {
        let found = with(
            json!({"sslmode": "require", "ssl_min_protocol_version": least,
            "ssl_max_protocol_version": most}),
        );
        assert!(found.contains(expected), "{least} {most}: {found}");
    }
    let weak = with(json!({"sslmode": "require", "sslrootcert": "system"}));
    assert!(weak.contains("use verify-full"), "{weak}");
}

#[test]
fn channel_binding_may_be_demanded() {
    let behaviour = encrypted(&signed(&params("localhost"), &authority("ours")));
    let tls = json!({"sslmode": "require", "channel_binding": "require"});
    let found = outcome(&serve(behaviour, tls));
    assert!(found.contains("channel_binding=require"), "{found}");
}
