//! Two hosts, and a path between the two hosts, in virtual time. Each test file uses a part of this module.
#![allow(dead_code, reason = "each test file uses a part of it")]

use lasthop_base::{Duration, Stream, Time};
use lasthop_host::{Error, Handle, Host, Options};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Faults of the path. Each field is the probability that a packet suffers the fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub lose: f64,
    pub duplicate: f64,
    pub delay: f64,
    pub corrupt: f64,
    pub truncate: f64,
}

/// Time after which a test abandons the handshake: the minimum of R2 for SYNs (RFC 9293 §3.8.3).
const HANDSHAKE: Duration = Duration::from_secs(180);

pub const CLEAN: Faults = Faults { lose: 0.0, duplicate: 0.0, delay: 0.0, corrupt: 0.0, truncate: 0.0 };

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostSide {
    Client,
    Server,
}

/// A function that replaces a packet on the path by any number of packets. The arguments are the destination and the
/// packet.
pub type PathHook = Box<dyn FnMut(HostSide, Vec<u8>) -> Vec<(HostSide, Vec<u8>)>>;

pub struct World {
    pub now: Time,
    pub client: Host,
    pub server: Host,
    pub faults: Faults,
    one_way: Duration,
    /// Transmission time of each packet.
    pub each: Duration,
    /// End of the current transmission, indexed by destination.
    busy_until: [Time; 2],
    random: Stream,
    in_flight: BTreeMap<(Time, u64), (HostSide, Vec<u8>)>,
    sent: u64,
    pub cut: bool,
    pub path_hook: Option<PathHook>,
}

pub fn client_ip() -> IpAddr {
    IpAddr::from([10, 0, 0, 1])
}

pub fn server_end() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 2], 80))
}

impl World {
    pub fn new(seed: u64, faults: Faults) -> World {
        World {
            now: Time::ZERO + Duration::from_secs(1),
            client: Host::new(&[client_ip(), IpAddr::from([0xfd; 16])], 1500, [1; 16]),
            server: Host::new(&[server_end().ip(), IpAddr::from([0xfe; 16])], 1500, [2; 16]),
            faults,
            one_way: Duration::from_millis(10),
            each: Duration::ZERO,
            busy_until: [Time::ZERO; 2],
            random: Stream::named(seed, "path"),
            in_flight: BTreeMap::new(),
            sent: 0,
            cut: false,
            path_hook: None,
        }
    }

    pub fn host(&mut self, at: HostSide) -> &mut Host {
        match at {
            HostSide::Client => &mut self.client,
            HostSide::Server => &mut self.server,
        }
    }

    /// Opens a connection. Returns the handles of the client's socket, of the server's socket and of the listener.
    pub fn connect(&mut self, client: &Options, server: &Options) -> (Handle, Handle, Handle) {
        self.try_connect(client, server).expect("the handshake completes in time")
    }

    /// Opens a connection like `connect`, but returns `None` if the server does not complete the handshake. This
    /// happens if the path loses all ACKs of the client, since a client without data does not retransmit ACKs.
    pub fn try_connect(&mut self, client: &Options, server: &Options) -> Option<(Handle, Handle, Handle)> {
        let listener = self.server.listen(server_end(), 8, server).expect("the server can listen");
        let local = self
            .client
            .connect(self.now, None, server_end(), client)
            .expect("the client can start to connect");
        let given_up = self.now + HANDSHAKE;
        while self.now < given_up {
            if self.client.readiness(local).expect("a socket").writable
                && let Ok((remote, _)) = self.server.accept(listener)
            {
                return Some((local, remote, listener));
            }
            if !self.step() {
                break;
            }
        }
        None
    }

    /// Sends all packets that are ready, then advances to the next event. Returns false if no event is pending.
    pub fn step(&mut self) -> bool {
        self.step_until(Time::NEVER)
    }

    fn step_until(&mut self, end: Time) -> bool {
        self.flush();
        let arrival = self.in_flight.first_key_value().map_or(Time::NEVER, |((time, _), _)| *time);
        let next = arrival.min(self.client.poll_timeout()).min(self.server.poll_timeout());
        if next == Time::NEVER || next > end {
            return false;
        }
        self.now = self.now.max(next);
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        while let Some(entry) = self.in_flight.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, packet) = entry.remove();
            let now = self.now;
            self.host(to).handle_packet(now, &packet);
        }
        self.flush();
        true
    }

    pub fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.step_until(end) {}
        self.now = self.now.max(end);
    }

    fn flush(&mut self) {
        for (from, to) in [(HostSide::Client, HostSide::Server), (HostSide::Server, HostSide::Client)] {
            let now = self.now;
            while let Some(packet) = self.host(from).poll_packet(now).map(<[u8]>::to_vec) {
                match self.path_hook.as_mut().map(|path_hook| path_hook(to, packet.clone())) {
                    Some(packets) => packets.into_iter().for_each(|(to, packet)| self.carry(to, packet)),
                    None => self.carry(to, packet),
                }
            }
        }
    }

    fn carry(&mut self, to: HostSide, mut packet: Vec<u8>) {
        let faults = self.faults;
        let mut happens = |probability| self.random.uniform() < probability;
        let (lost, twice, late) = (happens(faults.lose), happens(faults.duplicate), happens(faults.delay));
        let (corrupt, cut) = (happens(faults.corrupt), happens(faults.truncate));
        if lost || self.cut {
            return;
        }
        if corrupt {
            let bit = self.random.draw() as usize % (packet.len() * 8);
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        if cut {
            packet.truncate(self.random.draw() as usize % packet.len());
        }
        if twice {
            self.send(to, packet.clone(), Duration::ZERO);
        }
        let more = if late { Duration::from_micros(self.random.draw() % 30_000) } else { Duration::ZERO };
        self.send(to, packet, more);
    }

    fn send(&mut self, to: HostSide, packet: Vec<u8>, late: Duration) {
        self.sent += 1;
        let left_at = self.now.max(self.busy_until[to as usize]) + self.each;
        self.busy_until[to as usize] = left_at;
        self.in_flight.insert((left_at + self.one_way + late, self.sent), (to, packet));
    }
}

/// Returns `len` pseudo-random bytes, so that a comparison detects misplaced bytes.
pub fn text(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Stream::named(seed, "text");
    (0..len.div_ceil(8)).flat_map(|_| random.draw().to_le_bytes()).take(len).collect()
}

/// One direction of a connection, with the sending and the receiving application.
pub struct Transfer {
    pub from: (HostSide, Handle),
    pub to: (HostSide, Handle),
    pub text: Vec<u8>,
    sent: usize,
    pub received: Vec<u8>,
    pub is_over: bool,
}

impl Transfer {
    pub fn new(from: (HostSide, Handle), to: (HostSide, Handle), text: Vec<u8>) -> Transfer {
        Transfer { from, to, text, sent: 0, received: Vec::new(), is_over: false }
    }

    /// Sends and reads as many bytes as possible without blocking.
    pub fn advance(&mut self, world: &mut World) {
        let (at, handle) = self.from;
        while self.sent < self.text.len() {
            match world.host(at).send(handle, &self.text[self.sent..]) {
                Ok(taken) => self.sent += taken,
                Err(Error::WouldBlock) => break,
                Err(error) => panic!("send: {error}"),
            }
            if self.sent == self.text.len() {
                world.host(at).shutdown(handle).expect("the connection is open");
            }
        }
        let (at, handle) = self.to;
        let mut bytes = [0; 3000];
        while !self.is_over {
            match world.host(at).recv(handle, &mut bytes) {
                Ok(0) => self.is_over = true,
                Ok(len) => self.received.extend_from_slice(&bytes[..len]),
                Err(Error::WouldBlock) => break,
                Err(error) => panic!("recv: {error}"),
            }
        }
        assert!(self.text.starts_with(&self.received), "the received bytes differ from the sent bytes");
    }
}
