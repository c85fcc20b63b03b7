//! Null cryptography, and the choice between null cryptography and TLS: the parts that both libraries share. `quinn` and `noq` compile this file with their library as
//! `library`. Their macro `identifier` is the type by which the library passes a connection identifier.

use super::crypto::{NullCrypto, protocol_violation};
use super::library::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, HmacKey, KeyPair, Keys, PacketKey,
    ServerConfig, Session,
};
use super::library::transport_parameters::TransportParameters;
use super::library::{ConnectionId, Side, TransportError};
use crate::handshake::{Handshake, sign};
use lasthop_stack::quic::Crypto;
use std::any::Any;
use std::sync::Arc;

/// Key that changes no bytes.
pub(super) struct NullKey;

impl HeaderKey for NullKey {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        16
    }
}

fn pair() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(NullKey), remote: Box::new(NullKey) }
}

pub(super) fn keys() -> Keys {
    Keys { header: KeyPair { local: Box::new(NullKey), remote: Box::new(NullKey) }, packet: pair() }
}

pub(super) struct NullSession(Side, Handshake);

impl NullSession {
    pub(super) fn new(side: Side, parameters: &TransportParameters) -> NullSession {
        let mut bytes = Vec::new();
        parameters.write(&mut bytes);
        NullSession(side, Handshake::new(side.is_client(), bytes))
    }
}

impl Session for NullSession {
    fn initial_keys(&self, _: identifier!(), _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        !self.1.is_done()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        match self.1.read(bytes) {
            Ok(()) => Ok(false),
            Err(_) => Err(protocol_violation()),
        }
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        match self.1.peer_parameters() {
            None => Ok(None),
            Some(mut bytes) => Ok(Some(TransportParameters::read(self.0, &mut bytes)?)),
        }
    }

    fn write_handshake(&mut self, bytes: &mut Vec<u8>) -> Option<Keys> {
        self.1.write(bytes).then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(pair())
    }

    fn is_valid_retry(&self, _: identifier!(), _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        out: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        out.fill(0);
        Ok(())
    }
}

/// Cryptography of the client and of the server.
type Sides = (Arc<dyn ClientConfig>, Arc<dyn ServerConfig>);

/// Returns the cryptography of both sides of a connection.
///
/// # Errors
/// The reason if the cryptography is not available.
pub(super) fn sides(crypto: Crypto) -> Result<Sides, String> {
    match crypto {
        Crypto::Null => Ok((Arc::new(NullCrypto), Arc::new(NullCrypto))),
        #[cfg(feature = "tls")]
        Crypto::Tls => {
            use super::library::crypto::rustls::{QuicClientConfig, QuicServerConfig};
            let (client, server) = crate::tls::sides()?;
            let client = QuicClientConfig::try_from(client).map_err(|error| error.to_string())?;
            let server = QuicServerConfig::try_from(server).map_err(|error| error.to_string())?;
            Ok((Arc::new(client), Arc::new(server)))
        }
        #[cfg(not(feature = "tls"))]
        Crypto::Tls => Err("this program has no TLS".to_owned()),
    }
}

/// Key of tokens and resets. Different data have different signatures, and a signature is never zero.
pub(super) struct NullHmac(pub(super) u64);

impl HmacKey for NullHmac {
    fn sign(&self, data: &[u8], out: &mut [u8]) {
        sign(self.0, data, out);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut own = [0; 32];
        self.sign(data, &mut own);
        if signature == own { Ok(()) } else { Err(CryptoError) }
    }
}
