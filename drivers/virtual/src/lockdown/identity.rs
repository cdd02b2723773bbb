//! Keys and certificates: what a pairing is made of.
//!
//! The RSA keys are files in this folder. They belong to devices and a host that do not exist and
//! protect nothing; making a fresh pair would cost seconds in a debug build and prove no more.
//! They are RSA because libimobiledevice reads nothing else from a pair record.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PKCS_RSA_SHA256, date_time_ymd,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ConfigBuilder, ServerConfig, WantsVerifier};

use super::pairing::{HostId, Pairing};
use crate::plist::{self, Value};
use crate::usbmux::{SystemBuid, Udid};

const DEVICE_KEY: &[u8] = include_bytes!("keys/device.der");
const HOST_KEY: &[u8] = include_bytes!("keys/host.der");

/// The keys and certificates of a fleet: one host that every phone trusts from the start, and the
/// key all phones share.
pub struct Identity {
    device_key: KeyPair,
    host_key: KeyPair,
    root: Certificate,
    host: Certificate,
    device: Certificate,
    provider: Arc<CryptoProvider>,
}

impl Default for Identity {
    fn default() -> Self {
        Self::new()
    }
}

impl Identity {
    /// Makes the certificates.
    pub fn new() -> Self {
        Self::make().expect("the keys are compiled in, and certificates over them always succeed")
    }

    fn make() -> Result<Self, rcgen::Error> {
        let (device_key, host_key) = (key(DEVICE_KEY)?, key(HOST_KEY)?);
        let mut params = certificate();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&host_key)?;
        let issuer = Issuer::from_params(&params, &host_key);
        let mut params = certificate();
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
        ];
        let host = params.signed_by(&host_key, &issuer)?;
        let device = params.signed_by(&device_key, &issuer)?;
        Ok(Self {
            root,
            host,
            device,
            provider: Arc::new(ring::default_provider()),
            device_key,
            host_key,
        })
    }

    /// The host that every phone of the fleet trusts from the start.
    pub(super) fn host_id(&self) -> HostId {
        HostId("5061636B-7472-6169-6E20-686F73743031".to_owned())
    }

    /// The pairing of [`Identity::host_id`].
    pub(super) fn own_pairing(&self) -> Pairing {
        Pairing {
            client_certificates: vec![self.host.der().clone(), self.root.der().clone()],
            device_certificate: self.device.der().clone(),
        }
    }

    /// The record the trusted host keeps, as XML.
    pub(super) fn pair_record(
        &self,
        udid: &Udid,
        buid: &SystemBuid,
        wifi_address: &str,
    ) -> Vec<u8> {
        let data = |pem: String| Value::Data(pem.into_bytes());
        plist::write_xml(plist::dictionary([
            ("DeviceCertificate", data(self.device.pem())),
            ("EscrowBag", Value::Data(vec![0x5a; 32])),
            ("HostCertificate", data(self.host.pem())),
            ("HostID", self.host_id().0.into()),
            ("HostPrivateKey", data(self.host_key.serialize_pem())),
            ("RootCertificate", data(self.root.pem())),
            ("RootPrivateKey", data(self.host_key.serialize_pem())),
            ("SystemBUID", buid.0.as_str().into()),
            ("UDID", udid.as_str().into()),
            ("WiFiMACAddress", wifi_address.into()),
        ]))
    }

    /// The device's public key as a host asks for it when it pairs: PKCS #1 in PEM.
    pub(super) fn device_public_key(&self) -> Vec<u8> {
        use base64::Engine as _;
        let key =
            base64::engine::general_purpose::STANDARD.encode(self.device_key.public_key_raw());
        let mut pem = "-----BEGIN RSA PUBLIC KEY-----\n".to_owned();
        for line in key.as_bytes().chunks(64) {
            pem.extend(line.iter().map(|&byte| char::from(byte)));
            pem.push('\n');
        }
        pem.push_str("-----END RSA PUBLIC KEY-----\n");
        pem.into_bytes()
    }

    /// TLS as the phone speaks it to a host it has paired with.
    pub(super) fn tls(&self, pairing: &Pairing) -> Arc<ServerConfig> {
        let serve = |certificate: &CertificateDer<'static>| {
            let verifier = pairing.verifier(self.provider.clone());
            self.builder()
                .with_client_cert_verifier(verifier)
                .with_single_cert(vec![certificate.clone()], self.private_key())
        };
        // A host may have put another key into the certificate it made for us. A phone would keep
        // it and fail; presenting our own lets clients that look at nothing go on.
        let config = serve(&pairing.device_certificate)
            .or_else(|_| serve(self.device.der()))
            .expect("our own certificate was made over this very key");
        Arc::new(config)
    }

    fn builder(&self) -> ConfigBuilder<ServerConfig, WantsVerifier> {
        ServerConfig::builder_with_provider(self.provider.clone())
            .with_safe_default_protocol_versions()
            .expect("ring supports both versions of TLS that rustls knows")
    }

    fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.device_key.serialize_der()))
    }
}

fn key(pkcs8: &[u8]) -> Result<KeyPair, rcgen::Error> {
    KeyPair::from_pkcs8_der_and_sign_algo(&PrivatePkcs8KeyDer::from(pkcs8), &PKCS_RSA_SHA256)
}

fn certificate() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2049, 1, 1);
    params
}
