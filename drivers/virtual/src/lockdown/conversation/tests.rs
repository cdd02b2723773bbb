use std::io;
use std::sync::OnceLock;

use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error as TlsError, SignatureScheme,
};

use super::*;
use crate::lockdown::channel::{read, write};
use crate::lockdown::tests::lockdown;
use crate::plist;
use crate::usbmux::{DevicePort, Stream, SystemBuid};

#[path = "../../../tests/judges.rs"]
mod judges;

const APPS: &str = "com.apple.mobile.installation_proxy";

/// A phone and the pair record of a host it trusts.
fn phone() -> (Arc<Lockdown>, Dictionary) {
    let lockdown = lockdown();
    let record = lockdown.pair_with(&SystemBuid("host".to_owned()));
    (lockdown, plist::read_dictionary(&record).unwrap())
}

fn connect(phone: &Arc<Lockdown>) -> DuplexStream {
    connect_to(phone, crate::lockdown::PORT)
}

fn connect_to(phone: &Arc<Lockdown>, port: DevicePort) -> DuplexStream {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let service = phone.open(port, None).unwrap();
    tokio::spawn(service(Box::new(far)));
    near
}

async fn ask(stream: &mut (impl Stream + ?Sized), request: Dictionary) -> Dictionary {
    write(stream, request).await.unwrap();
    read(stream).await.unwrap().unwrap()
}

fn request(name: &str) -> Dictionary {
    dictionary([("Request", name.into())])
}

async fn start_session(stream: &mut DuplexStream, record: &Dictionary) -> Dictionary {
    let mut start = request("StartSession");
    start.insert("HostID".to_owned(), record.get("HostID").unwrap().clone());
    ask(stream, start).await
}

/// The phone's certificate is not looked at: clients know it from the pair record only.
#[derive(Debug)]
struct AnyPhone;

impl ServerCertVerifier for AnyPhone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![
            SignatureScheme::RSA_PSS_SHA256,
            SignatureScheme::RSA_PKCS1_SHA256,
        ]
    }
}

/// A certificate and its key, both PEM.
struct Shown<'a>(&'a [u8], &'a [u8]);

impl<'a> Shown<'a> {
    fn of(record: &'a Dictionary, certificate: &str, key: &str) -> Self {
        let pem = |name| record.get(name).and_then(Value::as_data).unwrap();
        Self(pem(certificate), pem(key))
    }
}

/// Becomes a host that shows a certificate, or none.
async fn secure(
    stream: DuplexStream,
    shown: Option<Shown<'_>>,
) -> io::Result<TlsStream<DuplexStream>> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyPhone));
    let config = match shown {
        None => builder.with_no_client_auth(),
        Some(Shown(certificate, key)) => {
            let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
            let key = PrivateKeyDer::from_pem_slice(key).unwrap();
            builder
                .with_client_auth_cert(vec![certificate], key)
                .unwrap()
        }
    };
    let name = ServerName::try_from("phone").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

#[tokio::test]
async fn a_session_turns_to_tls_and_back() {
    let (phone, record) = phone();
    let mut stream = connect(&phone);
    let started = start_session(&mut stream, &record).await;
    assert_eq!(started.get("EnableSessionSSL"), Some(&true.into()));
    let host = Shown::of(&record, "HostCertificate", "HostPrivateKey");
    let mut secure = secure(stream, Some(host)).await.unwrap();
    let mut serial = request("GetValue");
    serial.insert("Key".to_owned(), "SerialNumber".into());
    let told = ask(&mut secure, serial.clone()).await;
    assert_eq!(text(&told, "Value"), Some("VPKT00000001"));
    let mut stop = request("StopSession");
    stop.insert(
        "SessionID".to_owned(),
        started.get("SessionID").unwrap().clone(),
    );
    ask(&mut secure, stop).await;
    secure.get_mut().1.send_close_notify();
    secure.flush().await.unwrap();
    let mut open = secure.into_inner().0;
    // What the phone says on its way out of TLS ends with its close_notify alert.
    let mut alert = [0; 5];
    open.read_exact(&mut alert).await.unwrap();
    let mut rest = vec![0; usize::from(u16::from_be_bytes([alert[3], alert[4]]))];
    open.read_exact(&mut rest).await.unwrap();
    let told = ask(&mut open, serial).await;
    assert_eq!(
        text(&told, "Error"),
        Some("MissingValue"),
        "in the open it is a secret again"
    );
}

#[tokio::test]
async fn the_root_over_the_hosts_certificate_is_accepted_too() {
    let (phone, record) = phone();
    let mut stream = connect(&phone);
    start_session(&mut stream, &record).await;
    let root = Shown::of(&record, "RootCertificate", "RootPrivateKey");
    let mut secure = secure(stream, Some(root)).await.unwrap();
    let told = ask(&mut secure, request("QueryType")).await;
    assert_eq!(text(&told, "Type"), Some("com.apple.mobile.lockdown"));
}

#[tokio::test]
async fn a_host_that_shows_no_certificate_or_another_gets_no_session() {
    let (phone, record) = phone();
    let key = rcgen::KeyPair::generate().unwrap();
    let stranger = rcgen::CertificateParams::default()
        .self_signed(&key)
        .unwrap();
    let (certificate, key) = (stranger.pem(), key.serialize_pem());
    let stranger = Shown(certificate.as_bytes(), key.as_bytes());
    for shown in [None, Some(stranger)] {
        let mut stream = connect(&phone);
        start_session(&mut stream, &record).await;
        let refused = match secure(stream, shown).await {
            Err(_) => true,
            // In TLS 1.3 a client learns only afterwards that it was turned away.
            Ok(mut secure) => {
                let sent = write(&mut secure, request("QueryType")).await;
                sent.is_err() || !matches!(read(&mut secure).await, Ok(Some(_)))
            }
        };
        assert!(refused);
    }
}

#[tokio::test]
async fn nothing_is_started_without_a_session() {
    let (phone, _) = phone();
    let mut stream = connect(&phone);
    let mut start = request("StartService");
    start.insert("Service".to_owned(), APPS.into());
    let told = ask(&mut stream, start).await;
    assert_eq!(text(&told, "Error"), Some("SessionInactive"));
    let told = ask(&mut stream, request("StopSession")).await;
    assert_eq!(text(&told, "Error"), Some("SessionInactive"));
    let told = ask(&mut stream, request("Dance")).await;
    assert_eq!(text(&told, "Error"), Some("InvalidRequest"));
}

#[tokio::test]
async fn a_service_starts_behind_tls_of_its_own() {
    let (phone, record) = phone();
    let host = || Some(Shown::of(&record, "HostCertificate", "HostPrivateKey"));
    let mut stream = connect(&phone);
    start_session(&mut stream, &record).await;
    let mut secured = secure(stream, host()).await.unwrap();
    let mut start = request("StartService");
    start.insert("Service".to_owned(), APPS.into());
    let told = ask(&mut secured, start).await;
    let port = told.get("Port").and_then(Value::as_unsigned_integer);
    let port = DevicePort(port.unwrap().try_into().unwrap());
    let mut apps = secure(connect_to(&phone, port), host()).await.unwrap();
    let listed = ask(&mut apps, dictionary([("Command", "Lookup".into())])).await;
    assert_eq!(text(&listed, "Status"), Some("Complete"));
}

#[tokio::test]
async fn what_each_judge_asks_is_understood() {
    let (phone, record) = phone();
    let host = || Some(Shown::of(&record, "HostCertificate", "HostPrivateKey"));
    let mut stream = connect(&phone);
    start_session(&mut stream, &record).await;
    let mut session = secure(stream, host()).await.unwrap();
    for (judge, requests) in judges::requests(&["lockdown", "lockdown-service"]) {
        for asked in requests {
            let words: Vec<&str> = asked.what.split(' ').collect();
            let (name, arguments) = match asked.kind.as_str() {
                "lockdown" => (words[0], &words[1..]),
                _ => ("StartService", &words[..1]),
            };
            let mut request = request(name);
            let keys: &[&str] = match name {
                "StartService" => &["Service"],
                _ => &["Domain", "Key", "Value"],
            };
            for (key, word) in keys.iter().zip(arguments).filter(|(_, word)| **word != "-") {
                let value = match *word {
                    "true" => true.into(),
                    word => Value::from(word),
                };
                request.insert((*key).to_owned(), value);
            }
            let mut answer = ask(&mut session, request).await;
            if asked.kind == "lockdown-service" {
                let port = answer.get("Port").and_then(Value::as_unsigned_integer);
                let port = DevicePort(port.unwrap().try_into().unwrap());
                let mut service = secure(connect_to(&phone, port), host()).await.unwrap();
                // What comes before the last one is not answered.
                for command in &words[1..] {
                    let name = ("Name", "com.example.notification".into());
                    let command = dictionary([("Command", (*command).into()), name]);
                    write(&mut service, command).await.unwrap();
                }
                answer = read(&mut service).await.unwrap().unwrap();
            }
            let empty = Some(&Value::Dictionary(Dictionary::new()));
            let what = format!("{judge}: {}", asked.what);
            assert_eq!(text(&answer, "Error"), asked.refusal.as_deref(), "{what}");
            assert_ne!(answer.get("Value"), empty, "{what}");
        }
    }
}

#[tokio::test]
async fn a_name_is_set_in_a_session_only() {
    let (phone, record) = phone();
    let mut stream = connect(&phone);
    let mut rename = request("SetValue");
    let told = ask(&mut stream, rename.clone()).await;
    assert_eq!(text(&told, "Error"), Some("MissingKey"));
    rename.insert("Key".to_owned(), "DeviceName".into());
    let told = ask(&mut stream, rename.clone()).await;
    assert_eq!(text(&told, "Error"), Some("MissingValue"));
    rename.insert("Value".to_owned(), "Desk".into());
    let told = ask(&mut stream, rename.clone()).await;
    assert_eq!(text(&told, "Error"), Some("SetProhibited"));
    start_session(&mut stream, &record).await;
    let host = Shown::of(&record, "HostCertificate", "HostPrivateKey");
    let mut secure = secure(stream, Some(host)).await.unwrap();
    let told = ask(&mut secure, rename).await;
    assert_eq!(
        (text(&told, "Error"), text(&told, "Value")),
        (None, Some("Desk"))
    );
    let mut name = request("GetValue");
    name.insert("Key".to_owned(), "DeviceName".into());
    let told = ask(&mut connect(&phone), name).await;
    assert_eq!(text(&told, "Value"), Some("Desk"));
}

proptest! {
    #[test]
    fn any_request_is_answered(
        name in prop_oneof![
            Just("GetValue"), Just("SetValue"), Just("Pair"), Just("ValidatePair"), Just("Unpair"),
            Just("StopSession"), Just("StartService"), Just("QueryType"), Just("")
        ],
        key in prop_oneof![Just("Key"), Just("Domain"), Just("PairRecord"), Just("SessionID"), Just("Service")],
        value in prop_oneof![
            Just(Value::from("x")), Just(Value::from(5_u64)), Just(Value::Data(vec![1, 2])),
            Just(Value::Dictionary(dictionary([("HostID", "x".into()), ("HostCertificate", Value::Data(b"pem".to_vec()))]))),
        ],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            static PHONE: OnceLock<(Arc<Lockdown>, Dictionary)> = OnceLock::new();
            let mut stream = connect(&PHONE.get_or_init(phone).0);
            let mut request = request(name);
            request.insert(key.to_owned(), value);
            let answer = ask(&mut stream, request).await;
            assert_eq!(text(&answer, "Request"), Some(name));
        });
    }
}
