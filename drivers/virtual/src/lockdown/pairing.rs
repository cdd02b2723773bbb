//! Which hosts the phone trusts, and how it recognises one in a TLS handshake.
//!
//! The RSA keys are recorded: that of the devices is a file in this folder, that of the host which
//! every phone trusts from the start stands in the record that this host keeps. They belong to
//! devices and a host that do not exist and protect nothing; making a fresh pair would cost seconds
//! in a debug build and prove no more. They are RSA because libimobiledevice reads nothing else
//! from a pair record.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime,
};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};

use super::values::recorded;
use crate::plist::{Dictionary, Value, text};

const DEVICE_KEY: &[u8] = include_bytes!("keys/device.der");
/// How many hosts a phone remembers.
const MAX_HOSTS: usize = 64;

/// A host's name for itself, a UUID.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct HostId(pub(super) String);

/// What the phone keeps of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pairing {
    /// What the host may show: its own certificate, or the root over it, which libimobiledevice
    /// shows.
    pub(super) client_certificates: Vec<CertificateDer<'static>>,
    /// What the phone shows to the host.
    pub(super) device_certificate: CertificateDer<'static>,
}

impl Pairing {
    /// Reads the `PairRecord` of a `Pair` request.
    pub(super) fn read(record: &Dictionary) -> Option<(HostId, Self)> {
        let certificate = |key| {
            let pem = record.get(key).and_then(Value::as_data)?;
            CertificateDer::from_pem_slice(pem).ok()
        };
        let pairing = Self {
            client_certificates: vec![
                certificate("HostCertificate")?,
                certificate("RootCertificate")?,
            ],
            device_certificate: certificate("DeviceCertificate")?,
        };
        Some((host_id(record)?, pairing))
    }
}

/// TLS as the phone speaks it to a host it has paired with.
pub(super) fn tls(pairing: &Pairing) -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let serve = |certificate: &CertificateDer<'static>| {
        let verifier = KnownHost {
            certificates: pairing.client_certificates.clone(),
            provider: provider.clone(),
        };
        let key = PrivatePkcs8KeyDer::from(DEVICE_KEY);
        ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("ring supports both versions of TLS that rustls knows")
            .with_client_cert_verifier(Arc::new(verifier))
            .with_single_cert(vec![certificate.clone()], PrivateKeyDer::Pkcs8(key))
    };
    // A host may have put another key into the certificate it made for us. A phone would keep
    // it and fail; presenting our own lets clients that look at nothing go on.
    let config = serve(&pairing.device_certificate).or_else(|_| {
        let own = Pairing::read(&recorded(["pairing", ""])).expect("the tests have read it");
        serve(&own.1.device_certificate)
    });
    Arc::new(config.expect("our own certificate was made over this very key"))
}

/// The `HostID` of a request or of a pair record.
pub(super) fn host_id(dictionary: &Dictionary) -> Option<HostId> {
    text(dictionary, "HostID").map(|id| HostId(id.to_owned()))
}

/// The hosts one phone trusts.
#[derive(Default)]
pub(super) struct Pairings(Mutex<HashMap<HostId, Pairing>>);

impl Pairings {
    /// Remembers a host; forgets it when there are too many already.
    pub(super) fn add(&self, host: HostId, pairing: Pairing) {
        let mut hosts = self.0.lock();
        if hosts.len() < MAX_HOSTS || hosts.contains_key(&host) {
            hosts.insert(host, pairing);
        }
    }

    pub(super) fn get(&self, host: &HostId) -> Option<Pairing> {
        self.0.lock().get(host).cloned()
    }

    pub(super) fn remove(&self, host: &HostId) -> Option<Pairing> {
        self.0.lock().remove(host)
    }
}

/// Accepts exactly the certificates of one pairing, from whoever holds their key.
#[derive(Debug)]
struct KnownHost {
    certificates: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for KnownHost {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if self.certificates.iter().any(|known| known == end_entity) {
            Ok(ClientCertVerified::assertion())
        } else {
            let unknown = CertificateError::ApplicationVerificationFailure;
            Err(Error::InvalidCertificate(unknown))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
