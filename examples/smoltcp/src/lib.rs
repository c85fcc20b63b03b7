//! TCP of [smoltcp](https://github.com/smoltcp-rs/smoltcp) as a stack of Lasthop: `kind = "quic"`, `stack = "smoltcp"`.
//!
//! Each end has one interface with one socket. The stack sends and receives IP packets. smoltcp's clock counts
//! microseconds. smoltcp reports no congestion window and no RTT.

use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_stack::transport::{Build, Transport};
use lasthop_stack::{Layer, Observed, SentDatagram, Stack};
use lasthop_wire::Ecn;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::collections::VecDeque;
use std::sync::Arc;

/// Description of the stack, for the catalogue.
pub const SMOLTCP: Mechanism<Build> = Mechanism {
    info: Info {
        name: "smoltcp",
        summary: "TCP of smoltcp",
        source: "smoltcp 0.14",
        parameters: &[
            Parameter {
                name: "control",
                unit: Unit::Word(&["cubic", "reno", "none"]),
                default: Some("cubic"),
                doc: "congestion control of smoltcp",
            },
            Parameter {
                name: "buffer",
                unit: Unit::Bytes(2048, 1 << 30),
                default: Some("1 MB"),
                doc: "receive and send buffer; the receive window is at most as large",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        let control = match values.word("control") {
            "reno" => CongestionControl::Reno,
            "none" => CongestionControl::None,
            _ => CongestionControl::Cubic,
        };
        let buffer = values.bytes("buffer") as usize;
        Transport::Own(Arc::new(move |connection| {
            [true, false].map(|is_source| -> Box<dyn Stack> {
                let is_client = is_source == connection.source_opens;
                Box::new(End::new(control, buffer, connection.seed, is_client))
            })
        }))
    },
};

/// Addresses: first the client, then the server.
const ADDRESSES: [IpAddress; 2] = [IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2)];
const SERVER_PORT: u16 = 80;
const CLIENT_PORT: u16 = 49152;

/// One end of a connection.
struct End {
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    port: Port,
    is_at_end: bool,
    failure: Option<String>,
}

impl End {
    fn new(control: CongestionControl, buffer: usize, seed: u64, is_client: bool) -> End {
        let mut port = Port { arrived: VecDeque::new(), leaving: None, may_send: true };
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed ^ u64::from(is_client);
        let mut interface = Interface::new(config, &mut port, Instant::ZERO);
        let address = ADDRESSES[usize::from(!is_client)];
        let mut failure = None;
        interface.update_ip_addrs(|list| {
            if list.push(IpCidr::new(address, 24)).is_err() {
                failure = Some("no room for an address".to_owned());
            }
        });
        let ring = || SocketBuffer::new(vec![0; buffer]);
        let mut socket = Socket::new(ring(), ring());
        socket.set_congestion_control(control);
        socket.set_nagle_enabled(false);
        if !is_client && let Err(error) = socket.listen(SERVER_PORT) {
            failure = Some(error.to_string());
        }
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        End { interface, sockets, handle, port, is_at_end: false, failure }
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }
}

impl Stack for End {
    fn layer(&self) -> Layer {
        Layer::Ip
    }

    fn open(&mut self, _: Time) {
        let context = self.interface.context();
        let socket = self.sockets.get_mut::<Socket<'static>>(self.handle);
        if let Err(error) = socket.connect(context, (ADDRESSES[1], SERVER_PORT), CLIENT_PORT) {
            self.failure = Some(error.to_string());
        }
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], _: Ecn) {
        self.port.arrived.push_back(datagram.to_vec());
        self.port.may_send = false;
        while !self.port.arrived.is_empty() && self.port.leaving.is_none() {
            self.interface.poll_ingress_single(instant(now), &mut self.port, &mut self.sockets);
        }
        self.port.may_send = true;
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_datagram(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SentDatagram> {
        if self.port.leaving.is_none() {
            self.interface.poll_egress(instant(now), &mut self.port, &mut self.sockets);
        }
        datagram.extend_from_slice(&self.port.leaving.take()?);
        Some(SentDatagram::default())
    }

    fn poll_timeout(&mut self, now: Time) -> Time {
        let due = self.interface.poll_at(instant(now), &self.sockets);
        due.map_or(Time::NEVER, |due| Time::from_nanos(due.total_micros() as u64 * 1000))
    }

    fn write(&mut self, _: Time, bytes: u64) -> u64 {
        if !self.socket().can_send() {
            return 0;
        }
        // The free part of a ring buffer consists of up to two pieces.
        (0..2).fold(0, |accepted, _| {
            let left = bytes - accepted;
            let written = self.socket().send(|free| {
                let length = (free.len() as u64).min(left) as usize;
                (length, length as u64)
            });
            accepted + written.unwrap_or(0)
        })
    }

    fn finish(&mut self, _: Time) {
        self.socket().close();
    }

    fn read(&mut self, _: Time) -> u64 {
        let mut bytes = 0;
        while self.socket().can_recv() {
            bytes += self.socket().recv(|data| (data.len(), data.len() as u64)).unwrap_or(0);
        }
        if self.socket().state() == State::CloseWait {
            self.is_at_end = true;
            self.socket().close();
        }
        bytes
    }

    fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    fn observe(&self) -> Observed {
        let socket = self.sockets.get::<Socket<'static>>(self.handle);
        Observed { in_flight: Some(socket.send_queue() as u64), ..Observed::default() }
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}

/// Device with one packet of room in the sending direction, so that each poll returns one packet.
struct Port {
    arrived: VecDeque<Vec<u8>>,
    leaving: Option<Vec<u8>>,
    may_send: bool,
}

impl Device for Port {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Leaving<'_>)> {
        // A response, such as an RST, may need the room.
        if self.leaving.is_some() {
            return None;
        }
        Some((Arrived(self.arrived.pop_front()?), Leaving(&mut self.leaving)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        (self.may_send && self.leaving.is_none()).then(|| Leaving(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1500;
        // The simulator drops damaged packets.
        capabilities.checksum = ChecksumCapabilities::ignored();
        capabilities
    }
}

/// A packet that has arrived.
struct Arrived(Vec<u8>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

/// Room for a packet to be sent.
struct Leaving<'a>(&'a mut Option<Vec<u8>>);

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        write(self.0.insert(vec![0; length]))
    }
}

fn instant(now: Time) -> Instant {
    Instant::from_micros((now.as_nanos() / 1000) as i64)
}
