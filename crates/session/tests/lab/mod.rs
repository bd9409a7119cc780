//! A server that speaks TLS, or not, and certificates for it, made on the spot.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use pgassay_session::Endpoint;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer,
    DistinguishedName, DnType, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams,
    SanType, SerialNumber, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

pub type Authority = CertifiedIssuer<'static, KeyPair>;

pub fn authority(name: &str) -> Authority {
    authority_from(name, CertificateParams::default())
}

pub fn expired_authority(name: &str) -> Authority {
    authority_from(name, expired("localhost"))
}

pub fn authority_under(name: &str, above: &Authority) -> Authority {
    let params = authority_params(name, CertificateParams::default());
    CertifiedIssuer::signed_by(params, KeyPair::generate().unwrap(), above).unwrap()
}

fn authority_from(name: &str, params: CertificateParams) -> Authority {
    let params = authority_params(name, params);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn authority_params(name: &str, mut params: CertificateParams) -> CertificateParams {
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

pub struct Certified {
    pub chain: Vec<CertificateDer<'static>>,
    pub key: KeyPair,
    pub pem: String,
}

pub fn params(host: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "server");
    params.serial_number = Some(SerialNumber::from(7u64));
    params.subject_alt_names = vec![match host.parse() {
        Ok(address) => SanType::IpAddress(address),
        Err(_) => SanType::DnsName(host.try_into().unwrap()),
    }];
    params
}

pub fn signed(params: &CertificateParams, authority: &Authority) -> Certified {
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    Certified {
        chain: vec![certificate.der().clone()],
        key,
        pem: certificate.pem(),
    }
}

pub fn expired(host: &str) -> CertificateParams {
    let mut params = params(host);
    params.not_before = date_time_ymd(2001, 1, 1);
    params.not_after = date_time_ymd(2002, 1, 1);
    params
}

pub fn revocation_list(authority: &Authority, serials: &[u64]) -> String {
    let revoked = serials
        .iter()
        .map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        })
        .collect();
    let list = CertificateRevocationListParams {
        this_update: date_time_ymd(2020, 1, 1),
        next_update: date_time_ymd(4000, 1, 1),
        crl_number: SerialNumber::from(1u64),
        issuing_distribution_point: None,
        revoked_certs: revoked,
        key_identifier_method: KeyIdMethod::Sha256,
    };
    list.signed_by(authority).unwrap().pem().unwrap()
}

/// Files that go away with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pgassay-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str, text: &str, mode: u32) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a server does with who comes.
#[derive(Clone, Default)]
pub struct Behaviour {
    pub tls: Option<Arc<ServerConfig>>,
    pub refuses_plain: bool,
    pub refuses_tls: bool,
    /// Refuses everybody, after authentication.
    pub has_no_database: bool,
    /// Begins with TLS, unasked.
    pub is_direct: bool,
}

pub fn tls(certified: &Certified, clients: Option<&Authority>, alpn: bool) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::try_from(certified.key.serialize_der()).unwrap();
    let mut config = builder
        .with_single_cert(certified.chain.clone(), key)
        .unwrap();
    if alpn {
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    Arc::new(config)
}

/// Serves for as long as the process lives; returns what reaches it, for `tls` as given.
pub fn serve(behaviour: Behaviour, tls: Value) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that gives up in a handshake is no failure of the server.
            let _ = converse(&behaviour, stream.unwrap());
        }
    });
    let text = json!({
        "host": "localhost", "hostaddr": "127.0.0.1", "port": port, "user": "u", "dbname": "d",
        "connect_timeout_s": 5.0, "tls": tls,
    });
    serde_json::from_value(text).unwrap()
}

fn converse(behaviour: &Behaviour, mut stream: TcpStream) -> std::io::Result<()> {
    if behaviour.is_direct {
        let connection =
            ServerConnection::new(Arc::clone(behaviour.tls.as_ref().unwrap())).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        start_up(&mut stream)?;
        return answer(behaviour, &mut stream, true);
    }
    let first = start_up(&mut stream)?;
    if first != [0x04, 0xd2, 0x16, 0x2f] {
        return answer(behaviour, &mut stream, false);
    }
    let Some(config) = &behaviour.tls else {
        stream.write_all(b"N")?;
        start_up(&mut stream)?;
        return answer(behaviour, &mut stream, false);
    };
    stream.write_all(b"S")?;
    let connection = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    start_up(&mut stream)?;
    answer(behaviour, &mut stream, true)
}

fn start_up(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut rest)?;
    Ok(rest)
}

fn answer(
    behaviour: &Behaviour,
    stream: &mut (impl Read + Write),
    is_encrypted: bool,
) -> std::io::Result<()> {
    let error = |code: &str| {
        let body = format!("VFATAL\0C{code}\0Mno\0\0");
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&b"E"[..], &length, body.as_bytes()].concat()
    };
    let refuses = if is_encrypted {
        behaviour.refuses_tls
    } else {
        behaviour.refuses_plain
    };
    if refuses {
        return stream.write_all(&error("28000"));
    }
    stream.write_all(b"R\0\0\0\x08\0\0\0\0")?;
    if behaviour.has_no_database {
        return stream.write_all(&error("3D000"));
    }
    let pid: i32 = if is_encrypted { 443 } else { 80 };
    stream.write_all(&[&b"K\0\0\0\x0c"[..], &pid.to_be_bytes(), &[0; 4]].concat())?;
    stream.write_all(b"Z\0\0\0\x05I")?;
    stream.flush()?;
    while stream.read(&mut [0; 100])? > 0 {}
    Ok(())
}
