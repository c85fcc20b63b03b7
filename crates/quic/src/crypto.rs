//! Null cryptography for quinn-proto: the messages, flights, packet number spaces and sizes of a TLS 1.3 handshake, without
//! secrets.
//!
//! * quinn-proto sends the bytes of `write_handshake` in the packet number space before the keys that the call returns.
//!   ServerHello therefore returns the handshake keys, and the server's other messages return the 1-RTT keys.
//! * CRYPTO data arrives in pieces. A message is read when all of its length has arrived.
//! * An authentication tag has 16 zero bytes. A stateless reset token must therefore not be zero: otherwise a packet of an
//!   unknown connection would look like a reset.

use bytes::BytesMut;
use quinn_proto::crypto::{
    self, AeadKey, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair,
    Keys, PacketKey, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use std::any::Any;
use std::sync::Arc;

/// Length of the authentication tag, bytes (RFC 9001 §5.3).
const TAG: usize = 16;

/// Sizes of handshake messages with their headers of 4 bytes: X25519, one certificate with Ed25519, no ALPN (typical).
const CLIENT_HELLO: usize = 300;
const SERVER_HELLO: usize = 122;
/// EncryptedExtensions, Certificate, CertificateVerify and Finished.
const SERVER_FLIGHT: usize = 900;
const CLIENT_FINISHED: usize = 52;

/// Types of handshake messages (RFC 8446 §4).
const TYPE_CLIENT_HELLO: u8 = 1;
const TYPE_SERVER_HELLO: u8 = 2;
const TYPE_ENCRYPTED_EXTENSIONS: u8 = 8;
const TYPE_FINISHED: u8 = 20;

struct NullKey;

impl PacketKey for NullKey {
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

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

fn keys() -> Keys {
    Keys { header: KeyPair { local: Box::new(NullKey), remote: Box::new(NullKey) }, packet: pair() }
}

/// Progress of a handshake at one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The client has to write ClientHello. The server waits for it.
    ClientHello,
    /// The server has to write ServerHello. The client waits for it.
    ServerHello,
    /// The client has received ServerHello. The server has to write its other messages.
    HandshakeKeys,
    /// The client waits for the server's other messages. The server waits for the client's Finished.
    Flight,
    /// The client has to write Finished.
    Finished,
    Done,
}

struct NullSession {
    side: Side,
    step: Step,
    parameters: Vec<u8>,
    peer_parameters: Option<Vec<u8>>,
    received: Vec<u8>,
}

impl NullSession {
    fn new(side: Side, parameters: &TransportParameters) -> NullSession {
        let mut bytes = Vec::new();
        parameters.write(&mut bytes);
        NullSession {
            side,
            step: Step::ClientHello,
            parameters: bytes,
            peer_parameters: None,
            received: Vec::new(),
        }
    }
}

/// Appends a message of `size` bytes: type, length (24 bits), length of the transport parameters (16 bits), parameters,
/// padding.
fn write_message(bytes: &mut Vec<u8>, kind: u8, size: usize, parameters: Option<&[u8]>) {
    let body = size.saturating_sub(4).max(parameters.map_or(0, |it| it.len() + 2));
    bytes.push(kind);
    bytes.extend_from_slice(&(body as u32).to_be_bytes()[1..]);
    let end = bytes.len() + body;
    if let Some(parameters) = parameters {
        bytes.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
        bytes.extend_from_slice(parameters);
    }
    bytes.resize(end, 0x5a);
}

impl Session for NullSession {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
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
        self.step != Step::Done
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.received.extend_from_slice(bytes);
        while let [kind, a, b, c, rest @ ..] = &self.received[..] {
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            let Some(body) = rest.get(..length) else { break };
            let parameters = || {
                let size = usize::from(u16::from_be_bytes([*body.first()?, *body.get(1)?]));
                body.get(2..2 + size).map(<[u8]>::to_vec)
            };
            match (self.side, *kind, self.step) {
                (Side::Server, TYPE_CLIENT_HELLO, Step::ClientHello) => {
                    self.peer_parameters = parameters();
                    self.step = Step::ServerHello;
                }
                (Side::Client, TYPE_SERVER_HELLO, Step::ServerHello) => self.step = Step::HandshakeKeys,
                (Side::Client, TYPE_ENCRYPTED_EXTENSIONS, Step::Flight) => {
                    self.peer_parameters = parameters();
                    self.step = Step::Finished;
                }
                (Side::Server, TYPE_FINISHED, Step::Flight) => self.step = Step::Done,
                _ => return Err(TransportErrorCode::PROTOCOL_VIOLATION.into()),
            }
            self.received.drain(..4 + length);
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        match &self.peer_parameters {
            None => Ok(None),
            Some(bytes) => Ok(Some(TransportParameters::read(self.side, &mut &bytes[..])?)),
        }
    }

    fn write_handshake(&mut self, bytes: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.step) {
            (Side::Client, Step::ClientHello) => {
                write_message(bytes, TYPE_CLIENT_HELLO, CLIENT_HELLO, Some(&self.parameters));
                self.step = Step::ServerHello;
                None
            }
            (Side::Client, Step::HandshakeKeys) => {
                self.step = Step::Flight;
                Some(keys())
            }
            (Side::Client, Step::Finished) => {
                write_message(bytes, TYPE_FINISHED, CLIENT_FINISHED, None);
                self.step = Step::Done;
                Some(keys())
            }
            (Side::Server, Step::ServerHello) => {
                write_message(bytes, TYPE_SERVER_HELLO, SERVER_HELLO, None);
                self.step = Step::HandshakeKeys;
                Some(keys())
            }
            (Side::Server, Step::HandshakeKeys) => {
                write_message(bytes, TYPE_ENCRYPTED_EXTENSIONS, SERVER_FLIGHT, Some(&self.parameters));
                self.step = Step::Flight;
                Some(keys())
            }
            _ => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(pair())
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
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

/// Null cryptography of both sides.
pub(crate) struct NullCrypto;

impl crypto::ClientConfig for NullCrypto {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(NullSession::new(Side::Client, parameters)))
    }
}

impl crypto::ServerConfig for NullCrypto {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(NullSession::new(Side::Server, parameters))
    }
}

/// Key of tokens and resets. Signatures differ between data and are never zero.
pub(crate) struct NullHmac(pub(crate) u64);

impl HmacKey for NullHmac {
    fn sign(&self, data: &[u8], out: &mut [u8]) {
        // FNV-1a, then a linear congruential generator.
        let mut state = data.iter().fold(self.0 ^ 0xcbf2_9ce4_8422_2325, |state, byte| {
            (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        for byte in out {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (state >> 56) as u8 | 1;
        }
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

/// Key of address validation tokens.
pub(crate) struct NullToken;

impl HandshakeTokenKey for NullToken {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(NullToken)
    }
}

impl AeadKey for NullToken {
    fn seal(&self, data: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        data.resize(data.len() + TAG, 0);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let length = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..length])
    }
}
