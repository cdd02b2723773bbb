//! The farm's certificates, and how its clients know them: by the SHA-256 of the authority, which every
//! invitation carries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_nats::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use async_nats::rustls::client::verify_server_cert_signed_by_trust_anchor;
use async_nats::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use async_nats::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use async_nats::rustls::server::ParsedCertificate;
use async_nats::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use super::config::TlsFiles;
use super::error::ServerError;
use super::folder::{create_private_folder, write_private};
use crate::bundle::digest_of;

/// The farm's own authority, and a certificate of its server.
#[derive(Debug, Clone)]
pub struct Certificates {
    /// The files that the server reads.
    pub files: TlsFiles,
    /// SHA-256 of the authority's certificate, in hexadecimal digits.
    pub pin: String,
}

impl Certificates {
    /// The authority in a folder, made when there is none, and a fresh certificate for a server that
    /// is reached by these names and addresses.
    ///
    /// # Errors
    /// When files cannot be written or read.
    pub fn open(folder: &Path, server: &str, names: &[String]) -> Result<Self, ServerError> {
        create_private_folder(folder)?;
        let authority = folder.join("authority.pem");
        let authority_key = folder.join("authority.key");
        if !authority.is_file() {
            let key = KeyPair::generate().map_err(failed)?;
            let certificate = authority_params().self_signed(&key).map_err(failed)?;
            write_private(&authority_key, &key.serialize_pem())?;
            write_private(&authority, &certificate.pem())?;
        }
        let pem = read(&authority)?;
        let key = KeyPair::from_pem(&read(&authority_key)?).map_err(failed)?;
        // The same words as in its certificate, which is made only once.
        let authority_params = authority_params();
        let issuer = Issuer::from_params(&authority_params, key);

        let mut params = CertificateParams::new(names.to_vec()).map_err(failed)?;
        params.distinguished_name.push(DnType::CommonName, server);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            // Servers of a cluster are each other's clients.
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, &issuer).map_err(failed)?;
        let files = TlsFiles {
            certificate: folder.join(format!("{server}.pem")),
            key: folder.join(format!("{server}.key")),
            authority,
        };
        write_private(&files.key, &key.serialize_pem())?;
        write_private(&files.certificate, &format!("{}{pem}", certificate.pem()))?;
        let pin = pin_of(&pem);
        let unreadable = || ServerError::unreadable(&files.authority, &"it holds no certificate");
        let pin = pin.ok_or_else(unreadable)?;
        Ok(Self { files, pin })
    }

    /// The pin of the authority in a folder, if there is one.
    pub fn pin_in(folder: &Path) -> Option<String> {
        pin_of(&std::fs::read_to_string(folder.join("authority.pem")).ok()?)
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(DnType::CommonName, "packtrain farm");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn read(path: &Path) -> Result<String, ServerError> {
    std::fs::read_to_string(path).map_err(ServerError::file(path))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "`map_err` hands errors over by value"
)]
fn failed(error: rcgen::Error) -> ServerError {
    ServerError::keys("the farm's certificates", &error)
}

fn pin_of(pem: &str) -> Option<String> {
    use base64::Engine as _;
    let body = pem.split("-----").nth(2)?;
    let body: String = body.split_ascii_whitespace().collect();
    let der = base64::engine::general_purpose::STANDARD
        .decode(body)
        .ok()?;
    Some(fingerprint(&der))
}

/// The SHA-256 of a certificate in DER, in hexadecimal digits.
pub fn fingerprint(certificate: &[u8]) -> String {
    digest_of(certificate)
}

/// TLS that trusts whatever the authority with this fingerprint signed, by any name: it signs servers
/// of one farm and nothing else, and those are reached by addresses that change.
pub(crate) fn pinned(pin: &str) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Pinned {
        pin: pin.to_ascii_lowercase(),
        provider: Arc::clone(&provider),
    });
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

#[derive(Debug)]
struct Pinned {
    pin: String,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let authority = intermediates
            .iter()
            .find(|certificate| fingerprint(certificate) == self.pin)
            .ok_or(Error::InvalidCertificate(CertificateError::UnknownIssuer))?;
        let mut roots = RootCertStore::empty();
        roots.add(authority.clone().into_owned())?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        let certificate = ParsedCertificate::try_from(end_entity)?;
        verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &roots,
            intermediates,
            now,
            algorithms,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// The names and addresses that a server on this address is reached by.
pub(super) fn names(listen: std::net::IpAddr, host: &str) -> Vec<String> {
    let mut names = ["localhost", "127.0.0.1", host].map(str::to_owned).to_vec();
    if !listen.is_unspecified() {
        names.push(listen.to_string());
    }
    names
}

/// Where the certificates of a farm's folder lie.
pub(super) fn folder(farm: &Path) -> PathBuf {
    farm.join("tls")
}
