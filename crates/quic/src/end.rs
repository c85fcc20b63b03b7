//! One end of a QUIC connection. The modules `quinn` and `noq` each compile this file, with their QUIC library under
//! the name `library`.

use super::crypto::NullToken;
use super::library::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionEvent, ConnectionHandle, ConnectionId,
    ConnectionIdGenerator, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event,
    MtuDiscoveryConfig, ServerConfig, StreamEvent, StreamId, TimeSource, TransportConfig, VarInt,
};
use super::session::{NullHmac, sides};
use super::{congestion, handle, new_endpoint, observe, poll_transmit, set_identifiers, set_log, write};
use crate::log::LogSlot;
use crate::{SMALLEST_DATAGRAM, Settings, SmallestRtt, instant, time};
use bytes::{Bytes, BytesMut};
use lasthop_base::{Stream, Time};
use lasthop_stack::{Layer, Observed, SentDatagram, Stack};
use lasthop_wire::Ecn;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes that the application hands to the stack in one call.
const CHUNK: usize = 1 << 16;
/// Number of packets per ACK that a receiver sends without a request (RFC 9000 §13.2.2).
const USUAL_PACKETS_PER_ACK: u32 = 2;

/// Connection identifiers of 8 random bytes.
pub(super) struct Identifiers(pub(super) Stream);

impl ConnectionIdGenerator for Identifiers {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.draw().to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

/// Clock for QUIC's address validation tokens. This clock always returns the same time.
struct NoClock;

impl TimeSource for NoClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH
    }
}

/// One end of a QUIC connection.
pub(super) struct Quic {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Configuration of the end that opens the connection; `None` after opening, and at the end that listens.
    client: Option<ClientConfig>,
    /// Whether this end opens the stream.
    opens_stream: bool,
    direction: Dir,
    peer: SocketAddr,
    stream: Option<StreamId>,
    chunk: Bytes,
    is_readable: bool,
    is_writable: bool,
    is_at_end: bool,
    /// Whether the application's data had ended before the stream was opened.
    finishes_when_open: bool,
    /// Buffer of received datagrams; the library keeps parts of the buffer.
    arena: BytesMut,
    /// Datagrams that the endpoint sends outside of a connection.
    responses: Vec<Vec<u8>>,
    uses_ecn: bool,
    smallest_rtt: SmallestRtt,
    log: LogSlot,
    failure: Option<String>,
}

impl Quic {
    pub(super) fn pair(settings: &Settings, source_opens: bool) -> [Box<dyn Stack>; 2] {
        let addresses = [SocketAddr::from(([10, 0, 0, 1], 4433)), SocketAddr::from(([10, 0, 0, 2], 4433))];
        [0, 1].map(|end| -> Box<dyn Stack> {
            let is_source = end == 0;
            let smallest_rtt = SmallestRtt::default();
            let log = LogSlot::default();
            let mut transport = transport(settings, &smallest_rtt);
            let has_log = set_log(&mut transport, &log);
            let (transport, log) = (Arc::new(transport), log.enabled(has_log));
            let stream = |purpose: &str| Stream::named(settings.seed, &format!("quic.{end}.{purpose}"));
            let mut endpoint = EndpointConfig::new(Arc::new(NullHmac(stream("reset").draw())));
            let mut random = stream("endpoint");
            let mut seed = [0; 32];
            seed.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.draw().to_be_bytes()));
            let identifiers = stream("identifiers");
            endpoint.rng_seed(Some(seed));
            set_identifiers(&mut endpoint, move || Box::new(Identifiers(identifiers.clone())));
            let (mut client, mut server) = (None, None);
            let (crypto, failure) = match sides(settings.stack.crypto) {
                Ok(crypto) => (Some(crypto), None),
                Err(reason) => (None, Some(reason)),
            };
            if let Some((of_client, _)) = crypto.as_ref().filter(|_| is_source == source_opens) {
                let mut config = ClientConfig::new(of_client.clone());
                let first = Mutex::new(stream("first_identifier"));
                config.transport_config(transport).initial_dst_cid_provider(Arc::new(move || {
                    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                    ConnectionId::new(&first.draw().to_be_bytes())
                }));
                client = Some(config);
            } else if let Some((_, of_server)) = crypto {
                let mut config = ServerConfig::new(of_server, Arc::new(NullToken));
                config.transport_config(transport).time_source(Arc::new(NoClock));
                server = Some(Arc::new(config));
            }
            Box::new(Quic {
                endpoint: new_endpoint(Arc::new(endpoint), server),
                connection: None,
                client,
                opens_stream: if settings.is_two_way { is_source == source_opens } else { is_source },
                direction: if settings.is_two_way { Dir::Bi } else { Dir::Uni },
                peer: addresses[1 - end],
                stream: None,
                chunk: Bytes::from(vec![7; CHUNK]),
                is_readable: false,
                is_writable: true,
                is_at_end: false,
                finishes_when_open: false,
                arena: BytesMut::new(),
                responses: Vec::new(),
                uses_ecn: settings.ecn,
                smallest_rtt,
                log,
                failure,
            })
        })
    }

    /// Handles the events of the connection, and exchanges events between connection and endpoint.
    fn handle_events(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.opens_stream => {
                    self.stream = connection.streams().open(self.direction);
                    if let Some(id) = self.stream.filter(|_| self.finishes_when_open) {
                        let _ = connection.send_stream(id).finish();
                    }
                }
                Event::ConnectionLost { reason } => self.failure = Some(reason.to_string()),
                Event::Stream(StreamEvent::Opened { .. }) => {
                    if let Some(id) = connection.streams().accept(self.direction) {
                        self.stream = Some(id);
                        self.is_readable = true;
                    }
                }
                Event::Stream(StreamEvent::Readable { .. }) => self.is_readable = true,
                Event::Stream(StreamEvent::Writable { .. }) => self.is_writable = true,
                _ => {}
            }
        }
        while let Some(event) = connection.poll_endpoint_events() {
            let answer: Option<ConnectionEvent> = self.endpoint.handle_event(*handle, event);
            if let Some(event) = answer {
                connection.handle_event(event);
            }
        }
    }
}

fn transport(settings: &Settings, smallest_rtt: &SmallestRtt) -> TransportConfig {
    let stack = &settings.stack;
    let window = VarInt::from_u64(stack.receive_window).unwrap_or(VarInt::MAX);
    let mut config = TransportConfig::default();
    config.congestion_controller_factory(congestion(settings, smallest_rtt));
    config.receive_window(window);
    config.stream_receive_window(window);
    config.send_window(settings.send_window);
    config.packet_threshold(stack.packet_threshold);
    config.initial_mtu(if stack.discovers_mtu { SMALLEST_DATAGRAM } else { settings.datagram });
    let discovery = stack.discovers_mtu.then(|| {
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(settings.datagram);
        discovery
    });
    config.mtu_discovery_config(discovery);
    if stack.packets_per_ack != USUAL_PACKETS_PER_ACK {
        let mut frequency = AckFrequencyConfig::default();
        let delay = std::time::Duration::from_nanos(stack.max_ack_delay.as_nanos());
        frequency
            .ack_eliciting_threshold(VarInt::from_u32(stack.packets_per_ack - 1))
            .max_ack_delay(Some(delay));
        config.ack_frequency_config(Some(frequency));
    }
    config.max_idle_timeout(None);
    config
}

impl Stack for Quic {
    fn layer(&self) -> Layer {
        Layer::Udp
    }

    fn open(&mut self, now: Time) {
        if let Some(client) = self.client.take() {
            match self.endpoint.connect(instant(now), client, self.peer, "localhost") {
                Ok(connection) => self.connection = Some(connection),
                Err(error) => self.failure = Some(error.to_string()),
            }
        }
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        self.arena.reserve(datagram.len().max(1500));
        self.arena.extend_from_slice(datagram);
        let bytes = self.arena.split();
        let mut response = Vec::new();
        let ecn = EcnCodepoint::from_bits(ecn.bits());
        match handle(&mut self.endpoint, now, self.peer, ecn, bytes, &mut response) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            // A late copy of the first Initial packet looks like a new connection.
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_some() => {
                self.endpoint.ignore(incoming);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, instant(now), &mut response, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(error) => self.failure = Some(error.cause.to_string()),
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                response.truncate(transmit.size);
                self.responses.push(response);
            }
            None => {}
        }
        self.handle_events();
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(instant(now));
        }
        self.handle_events();
    }

    fn poll_datagram(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SentDatagram> {
        if let Some(response) = self.responses.pop() {
            datagram.extend_from_slice(&response);
            return Some(SentDatagram::default());
        }
        let (_, connection) = self.connection.as_mut()?;
        let ecn = match poll_transmit(connection, now, datagram)?.filter(|_| self.uses_ecn) {
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
            None => Ecn::NotEct,
        };
        Some(SentDatagram { ecn, is_retransmission: None })
    }

    fn poll_timeout(&mut self, _: Time) -> Time {
        let deadline = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        deadline.map_or(Time::NEVER, time)
    }

    fn write(&mut self, _: Time, bytes: u64) -> u64 {
        let (Some((_, connection)), Some(id)) = (&mut self.connection, self.stream) else { return 0 };
        let mut taken = 0;
        while self.is_writable && taken < bytes {
            let length = (self.chunk.len() as u64).min(bytes - taken) as usize;
            // The stream keeps a reference to the chunk. Bytes are copied only into packets.
            match write(connection, id, self.chunk.slice(..length)) {
                Some(written) => taken += written,
                None => self.is_writable = false,
            }
        }
        taken
    }

    fn finish(&mut self, _: Time) {
        match (&mut self.connection, self.stream) {
            (Some((_, connection)), Some(id)) => {
                let _ = connection.send_stream(id).finish();
            }
            _ => self.finishes_when_open = true,
        }
    }

    fn read(&mut self, _: Time) -> u64 {
        if !std::mem::take(&mut self.is_readable) {
            return 0;
        }
        let (Some((_, connection)), Some(id)) = (&mut self.connection, self.stream) else { return 0 };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return 0 };
        let mut bytes = 0;
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => bytes += chunk.bytes.len() as u64,
                Ok(None) => {
                    self.is_at_end = true;
                    break;
                }
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
        bytes
    }

    fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    fn observe(&self) -> Observed {
        let observed = |(_, connection): &(_, Connection)| observe(connection, &self.smallest_rtt);
        self.connection.as_ref().map_or_else(Observed::default, observed)
    }

    fn write_log(&mut self, writer: Box<dyn Write + Send + Sync>) -> bool {
        self.log.put(writer)
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}
