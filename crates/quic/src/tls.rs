//! TLS 1.3 with X25519, AES-128-GCM and one Ed25519 certificate, which the client accepts unseen.
//!
//! Keys are random. All lengths are fixed, so that the sizes and the times of packets are the same in each run.

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, SerialNumber};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::crypto::ring::kx_group::X25519;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme};
use std::sync::{Arc, LazyLock};

/// Configurations of the client and of the server.
type Sides = (Arc<ClientConfig>, Arc<ServerConfig>);

/// Configurations of both sides, the same for all connections of the process.
static CONFIGURATIONS: LazyLock<Result<Sides, String>> = LazyLock::new(configurations);

/// Returns the client's and the server's configuration.
///
/// # Errors
/// The library's error if the certificate cannot be created.
pub(crate) fn sides() -> Result<Sides, String> {
    CONFIGURATIONS.clone()
}

fn configurations() -> Result<Sides, String> {
    let (certificate, key) = certificate().map_err(|error| error.to_string())?;
    let provider = Arc::new(CryptoProvider {
        cipher_suites: vec![TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![X25519],
        ..ring::default_provider()
    });
    let of_client = ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(&[&TLS13]);
    let of_server = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]);
    let text = |error: Error| error.to_string();
    let client = of_client
        .map_err(text)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    let server = of_server.map_err(text)?.with_no_client_auth().with_single_cert(vec![certificate], key);
    Ok((Arc::new(client), Arc::new(server.map_err(text)?)))
}

fn certificate() -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), rcgen::Error> {
    let key = KeyPair::generate_for(&PKCS_ED25519)?;
    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()])?;
    // A random serial number would not always have the same length.
    parameters.serial_number = Some(SerialNumber::from(vec![1; 16]));
    let certificate = parameters.self_signed(&key)?;
    Ok((certificate.der().clone(), PrivateKeyDer::Pkcs8(key.serialize_der().into())))
}

/// Accepts each certificate: a simulated path has no attacker.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not offered".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}
