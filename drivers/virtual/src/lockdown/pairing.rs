//! Which hosts the phone trusts, and how it recognises one in a TLS handshake.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::{
    CryptoProvider, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
};

use crate::plist::{Dictionary, Value, text};

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

    pub(super) fn verifier(&self, provider: Arc<CryptoProvider>) -> Arc<dyn ClientCertVerifier> {
        Arc::new(KnownHost {
            certificates: self.client_certificates.clone(),
            provider,
        })
    }
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
