//! QUIC by quinn-proto, a stack of another project, as an end of a flow ([`Stack`]).
//!
//! A flow is one connection with one unidirectional stream from the source to the destination. Cryptography is null: a
//! handshake has the flights, packet number spaces and sizes of TLS 1.3.
//!
//! # Randomness and time
//! Connection identifiers (also the first destination identifier), the generator of quinn-proto's endpoint, reset keys and
//! tokens have seeds of [`Settings::seed`]. quinn-proto's `Bbr` draws from the system and is therefore not offered. All
//! times count from one `Instant` that the first flow of the process has read; quinn-proto uses only differences. Equal
//! seeds give equal runs of one program on one machine. quinn-proto's CUBIC uses `f64::cbrt`, whose last bit may differ
//! between systems.

mod crypto;

use bytes::{Bytes, BytesMut};
use crypto::{NullCrypto, NullHmac, NullToken};
use lasthop_base::{Duration, Stream, Time};
use lasthop_stack::{Layer, Observed, SentDatagram, Stack};
use lasthop_wire::Ecn;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionEvent, ConnectionHandle, ConnectionId, ConnectionIdGenerator,
    DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, MtuDiscoveryConfig, ServerConfig,
    StreamEvent, StreamId, TimeSource, TransportConfig, VarInt,
};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Hash of this crate's sources, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();

/// Time zero of all runs of the process.
static ZERO: LazyLock<Instant> = LazyLock::new(Instant::now);
/// Bytes that the application hands to the stack in one call.
const CHUNK: usize = 1 << 16;
/// Flow control windows of connection and stream, bytes: 256 MiB, more than any path of the scenarios holds.
const RECEIVE_WINDOW: u32 = 1 << 28;

/// Congestion control of quinn-proto.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Congestion {
    /// New Reno (RFC 9002 §7).
    NewReno,
    /// CUBIC (RFC 8312, quinn-proto's implementation).
    Cubic,
}

impl Congestion {
    /// All controls, each with its name.
    pub const ALL: [(&'static str, Congestion); 2] =
        [("new_reno", Congestion::NewReno), ("cubic", Congestion::Cubic)];

    /// The control of this name.
    pub fn named(name: &str) -> Option<Congestion> {
        Congestion::ALL.iter().find(|(known, _)| *known == name).map(|(_, control)| *control)
    }
}

/// Settings of a connection.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Congestion control of both ends.
    pub congestion: Congestion,
    /// Seed of everything that the connection draws.
    pub seed: u64,
    /// UDP payload of a full datagram at the start, bytes, at least 1200 (RFC 9000 §14).
    pub initial_mtu: u16,
    /// Largest UDP payload for which path MTU discovery looks, bytes.
    pub largest_mtu: u16,
    /// Initial congestion window, bytes; `None`: quinn-proto's default (RFC 9002 §7.2).
    pub initial_window: Option<u64>,
    /// Whether datagrams are ECN-capable. Without ECN, quinn-proto's validation of ECN fails, which changes nothing else.
    pub ecn: bool,
    /// Data that the source accepts from its application beyond the acknowledged data, bytes.
    pub send_window: u64,
}

impl Default for Settings {
    /// CUBIC, datagrams that fill an IPv4 packet of 1500 bytes, and a send window that limits no path.
    fn default() -> Settings {
        Settings {
            congestion: Congestion::Cubic,
            seed: 1,
            initial_mtu: 1472,
            largest_mtu: 1472,
            initial_window: None,
            ecn: false,
            send_window: 1 << 28,
        }
    }
}

/// Connection identifiers of 8 random bytes.
struct Identifiers(Stream);

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

/// Clock of tokens, which stands still.
struct NoClock;

impl TimeSource for NoClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH
    }
}

/// One end of a QUIC connection.
pub struct Quic {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Configuration of the end that opens, until it opens.
    client: Option<ClientConfig>,
    is_source: bool,
    peer: SocketAddr,
    stream: Option<StreamId>,
    chunk: Bytes,
    is_readable: bool,
    is_writable: bool,
    is_at_end: bool,
    /// Buffer of received datagrams; quinn-proto keeps parts of it.
    arena: BytesMut,
    /// Datagrams that the endpoint sends without a connection.
    responses: Vec<Vec<u8>>,
    uses_ecn: bool,
    failure: Option<String>,
}

impl Quic {
    /// Source and destination of a flow. `source_opens`: whether the source is the client.
    pub fn pair(settings: &Settings, source_opens: bool) -> [Box<dyn Stack>; 2] {
        let transport = Arc::new(transport(settings));
        let addresses = [SocketAddr::from(([10, 0, 0, 1], 4433)), SocketAddr::from(([10, 0, 0, 2], 4433))];
        [0, 1].map(|end| -> Box<dyn Stack> {
            let is_source = end == 0;
            let stream = |purpose: &str| Stream::named(settings.seed, &format!("quic.{end}.{purpose}"));
            let mut endpoint = EndpointConfig::new(Arc::new(NullHmac(stream("reset").draw())));
            let mut random = stream("endpoint");
            let mut seed = [0; 32];
            seed.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.draw().to_be_bytes()));
            let identifiers = stream("identifiers");
            endpoint.rng_seed(Some(seed)).cid_generator(move || Box::new(Identifiers(identifiers.clone())));
            let (mut client, mut server) = (None, None);
            if is_source == source_opens {
                let mut config = ClientConfig::new(Arc::new(NullCrypto));
                let first = Mutex::new(stream("first_identifier"));
                config.transport_config(transport.clone()).initial_dst_cid_provider(Arc::new(move || {
                    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                    ConnectionId::new(&first.draw().to_be_bytes())
                }));
                client = Some(config);
            } else {
                let mut config = ServerConfig::new(Arc::new(NullCrypto), Arc::new(NullToken));
                config.transport_config(transport.clone()).time_source(Arc::new(NoClock));
                server = Some(Arc::new(config));
            }
            Box::new(Quic {
                endpoint: Endpoint::new(Arc::new(endpoint), server, true, None),
                connection: None,
                client,
                is_source,
                peer: addresses[1 - end],
                stream: None,
                chunk: Bytes::from(vec![7; CHUNK]),
                is_readable: false,
                is_writable: true,
                is_at_end: false,
                arena: BytesMut::new(),
                responses: Vec::new(),
                uses_ecn: settings.ecn,
                failure: None,
            })
        })
    }

    /// Handles the events of the connection, and exchanges events between connection and endpoint.
    fn handle_events(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.is_source => self.stream = connection.streams().open(Dir::Uni),
                Event::ConnectionLost { reason } => self.failure = Some(reason.to_string()),
                Event::Stream(StreamEvent::Opened { .. }) => {
                    if let Some(id) = connection.streams().accept(Dir::Uni) {
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

fn transport(settings: &Settings) -> TransportConfig {
    let mut config = TransportConfig::default();
    let control: Arc<dyn ControllerFactory + Send + Sync> = match settings.congestion {
        Congestion::Cubic => {
            let mut cubic = CubicConfig::default();
            if let Some(window) = settings.initial_window {
                cubic.initial_window(window);
            }
            Arc::new(cubic)
        }
        Congestion::NewReno => {
            let mut reno = NewRenoConfig::default();
            if let Some(window) = settings.initial_window {
                reno.initial_window(window);
            }
            Arc::new(reno)
        }
    };
    config.congestion_controller_factory(control);
    config.receive_window(VarInt::from_u32(RECEIVE_WINDOW));
    config.stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW));
    config.send_window(settings.send_window);
    config.initial_mtu(settings.initial_mtu);
    let discovery = (settings.largest_mtu > settings.initial_mtu).then(|| {
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(settings.largest_mtu);
        discovery
    });
    config.mtu_discovery_config(discovery);
    config.max_idle_timeout(None);
    config
}

fn instant(time: Time) -> Instant {
    *ZERO + std::time::Duration::from_nanos(time.as_nanos())
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
        match self.endpoint.handle(instant(now), self.peer, None, ecn, bytes, &mut response) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            // A late copy of the first Initial packet looks like another connection.
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
        let transmit = connection.poll_transmit(instant(now), 1, datagram)?;
        let ecn = match transmit.ecn.filter(|_| self.uses_ecn) {
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
            None => Ecn::NotEct,
        };
        Some(SentDatagram { ecn, is_retransmission: None })
    }

    fn poll_timeout(&mut self, _: Time) -> Time {
        let deadline = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        deadline
            .map_or(Time::NEVER, |at| Time::from_nanos(at.saturating_duration_since(*ZERO).as_nanos() as u64))
    }

    fn write(&mut self, _: Time, bytes: u64) -> u64 {
        let (Some((_, connection)), Some(id)) = (&mut self.connection, self.stream) else { return 0 };
        let mut taken = 0;
        while self.is_writable && taken < bytes {
            let length = (self.chunk.len() as u64).min(bytes - taken) as usize;
            // The stream keeps a reference to the chunk. Bytes are copied only into packets.
            match connection.send_stream(id).write_chunks(&mut [self.chunk.slice(..length)]) {
                Ok(written) => taken += written.bytes as u64,
                Err(_) => self.is_writable = false,
            }
        }
        taken
    }

    fn finish(&mut self, _: Time) {
        if let (Some((_, connection)), Some(id)) = (&mut self.connection, self.stream) {
            let _ = connection.send_stream(id).finish();
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
        let Some((_, connection)) = &self.connection else { return Observed::default() };
        let (stats, metrics) = (connection.stats(), connection.congestion_state().metrics());
        let duration = |it: std::time::Duration| Some(Duration::from_nanos(it.as_nanos() as u64));
        Observed {
            cwnd: Some(stats.path.cwnd),
            ssthresh: metrics.ssthresh.filter(|it| *it < u64::MAX),
            lost: Some(stats.path.lost_packets),
            congestion_events: Some(stats.path.congestion_events),
            srtt: duration(stats.path.rtt),
            min_rtt: duration(stats.path.min_rtt),
            ..Observed::default()
        }
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}
