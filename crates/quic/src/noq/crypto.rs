//! Null cryptography for noq-proto: the parts whose signatures are noq-proto's own.

use super::session::{NullKey, NullSession, keys};
use crate::handshake::TAG;
use bytes::BytesMut;
use noq_proto::crypto::{self, CryptoError, HandshakeTokenKey, Keys, PacketKey, Session, UnsupportedVersion};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, ConnectionId, PathId, Side, TransportError, TransportErrorCode};

/// Error for a message out of order.
pub(super) fn protocol_violation() -> TransportError {
    TransportError::new(TransportErrorCode::PROTOCOL_VIOLATION, "unexpected message".into())
}

impl PacketKey for NullKey {
    fn encrypt(&self, _: PathId, _: u64, _: &mut [u8], _: usize) {}

    fn decrypt(&self, _: PathId, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
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

/// Null cryptography of both sides.
pub(super) struct NullCrypto;

impl crypto::ClientConfig for NullCrypto {
    fn start_session(
        &self,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(NullSession::new(Side::Client, parameters)))
    }
}

impl crypto::ServerConfig for NullCrypto {
    fn initial_keys(&self, _: u32, _: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(&self, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(NullSession::new(Side::Server, parameters))
    }
}

/// Key of address validation tokens.
pub(super) struct NullToken;

impl HandshakeTokenKey for NullToken {
    fn seal(&self, _: u128, data: &mut Vec<u8>) -> Result<(), CryptoError> {
        data.resize(data.len() + TAG, 0);
        Ok(())
    }

    fn open<'a>(&self, _: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        let length = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&data[..length])
    }
}
