//! Messages of a handshake without secrets: the flights and sizes of TLS 1.3.
//!
//! * Each call of a library's `write_handshake` may return new keys. The library sends the bytes of the call still in the
//!   earlier packet number space. The call that writes ServerHello therefore returns the handshake keys, and the call
//!   that writes the server's other messages returns the 1-RTT keys.
//! * CRYPTO data arrives in pieces. A message is read when the whole message has arrived.

/// Length of the authentication tag, bytes (RFC 9001 §5.3). All bytes of a tag are zero. A stateless reset token must
/// therefore not be zero. Otherwise a packet of an unknown connection would look like a reset.
pub(crate) const TAG: usize = 16;

/// Sizes in bytes of handshake messages with their headers of 4 bytes. Typical values: X25519, one certificate with
/// Ed25519, no ALPN.
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

/// Progress of a handshake at one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The client has to write ClientHello. The server waits for ClientHello.
    ClientHello,
    /// The server has to write ServerHello. The client waits for ServerHello.
    ServerHello,
    /// The client has received ServerHello. The server has to write its other messages.
    HandshakeKeys,
    /// The client waits for the server's other messages. The server waits for the client's Finished.
    Flight,
    /// The client has to write Finished.
    Finished,
    Done,
}

/// Error of a message that arrives out of order.
pub(crate) struct UnexpectedMessage;

/// One side of a handshake.
pub(crate) struct Handshake {
    is_client: bool,
    step: Step,
    /// Encoded transport parameters.
    parameters: Vec<u8>,
    peer_parameters: Option<Vec<u8>>,
    received: Vec<u8>,
}

impl Handshake {
    /// Returns a handshake that sends these encoded transport parameters.
    pub(crate) fn new(is_client: bool, parameters: Vec<u8>) -> Handshake {
        Handshake {
            is_client,
            step: Step::ClientHello,
            parameters,
            peer_parameters: None,
            received: Vec::new(),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.step == Step::Done
    }

    /// Returns the peer's encoded transport parameters; `None` until they are received.
    pub(crate) fn peer_parameters(&self) -> Option<&[u8]> {
        self.peer_parameters.as_deref()
    }

    /// Reads the next bytes of CRYPTO data.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), UnexpectedMessage> {
        self.received.extend_from_slice(bytes);
        while let [kind, a, b, c, rest @ ..] = &self.received[..] {
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            let Some(body) = rest.get(..length) else { break };
            let parameters = || {
                let size = usize::from(u16::from_be_bytes([*body.first()?, *body.get(1)?]));
                body.get(2..2 + size).map(<[u8]>::to_vec)
            };
            match (self.is_client, *kind, self.step) {
                (false, TYPE_CLIENT_HELLO, Step::ClientHello) => {
                    self.peer_parameters = parameters();
                    self.step = Step::ServerHello;
                }
                (true, TYPE_SERVER_HELLO, Step::ServerHello) => self.step = Step::HandshakeKeys,
                (true, TYPE_ENCRYPTED_EXTENSIONS, Step::Flight) => {
                    self.peer_parameters = parameters();
                    self.step = Step::Finished;
                }
                (false, TYPE_FINISHED, Step::Flight) => self.step = Step::Done,
                _ => return Err(UnexpectedMessage),
            }
            self.received.drain(..4 + length);
        }
        Ok(())
    }

    /// Writes the next message, if any. Returns whether new keys follow the message.
    pub(crate) fn write(&mut self, bytes: &mut Vec<u8>) -> bool {
        match (self.is_client, self.step) {
            (true, Step::ClientHello) => {
                write_message(bytes, TYPE_CLIENT_HELLO, CLIENT_HELLO, Some(&self.parameters));
                self.step = Step::ServerHello;
                false
            }
            (true, Step::HandshakeKeys) => {
                self.step = Step::Flight;
                true
            }
            (true, Step::Finished) => {
                write_message(bytes, TYPE_FINISHED, CLIENT_FINISHED, None);
                self.step = Step::Done;
                true
            }
            (false, Step::ServerHello) => {
                write_message(bytes, TYPE_SERVER_HELLO, SERVER_HELLO, None);
                self.step = Step::HandshakeKeys;
                true
            }
            (false, Step::HandshakeKeys) => {
                write_message(bytes, TYPE_ENCRYPTED_EXTENSIONS, SERVER_FLIGHT, Some(&self.parameters));
                self.step = Step::Flight;
                true
            }
            _ => false,
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

/// Writes a signature of `data` that depends on `key`. No byte is zero.
pub(crate) fn sign(key: u64, data: &[u8], signature: &mut [u8]) {
    // FNV-1a, then a linear congruential generator.
    let mut state = data.iter().fold(key ^ 0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    for byte in signature {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *byte = (state >> 56) as u8 | 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes that a side writes now.
    fn written(side: &mut Handshake) -> Vec<u8> {
        let mut bytes = Vec::new();
        while side.write(&mut bytes) {}
        bytes
    }

    /// Passes bytes to a side in pieces of 7 bytes. Returns the bytes that the side then writes.
    fn answer(side: &mut Handshake, bytes: &[u8]) -> Vec<u8> {
        let pieces = bytes.chunks(7).map(|piece| {
            assert!(side.read(piece).is_ok());
            written(side)
        });
        pieces.collect::<Vec<_>>().concat()
    }

    #[test]
    fn flights_have_the_sizes_of_tls() {
        let (mut client, mut server) =
            (Handshake::new(true, vec![1; 40]), Handshake::new(false, vec![2; 50]));
        let hello = written(&mut client);
        let flight = answer(&mut server, &hello);
        let finished = answer(&mut client, &flight);
        assert!(answer(&mut server, &finished).is_empty());
        let sizes = [hello.len(), flight.len(), finished.len()];
        assert_eq!(sizes, [CLIENT_HELLO, SERVER_HELLO + SERVER_FLIGHT, CLIENT_FINISHED]);
        assert!(client.is_done() && server.is_done());
        assert_eq!(
            (client.peer_parameters(), server.peer_parameters()),
            (Some(&[2; 50][..]), Some(&[1; 40][..]))
        );
    }

    #[test]
    fn a_message_out_of_order_is_refused() {
        let mut server = Handshake::new(false, Vec::new());
        assert!(server.read(&[TYPE_FINISHED, 0, 0, 0]).is_err());
    }

    #[test]
    fn signatures_depend_on_key_and_data() {
        let of = |key, data: &[u8]| {
            let mut signature = [0; 16];
            sign(key, data, &mut signature);
            assert!(!signature.contains(&0));
            signature
        };
        assert_eq!(of(1, b"a"), of(1, b"a"));
        assert!(of(1, b"a") != of(2, b"a") && of(1, b"a") != of(1, b"b"));
    }
}
