//! Lasthop's own TCP with real packets, as an implementation of the trait `Stack`.

use lasthop_base::Time;
use lasthop_host::{Handle, Host, Options};
use lasthop_stack::{Layer, SentDatagram, Stack};
use lasthop_tcp::Config;
use lasthop_wire::Ecn;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2))];
const PORT: u16 = 7;

/// A host with one connection. The source opens the connection and writes; the destination listens and reads.
pub struct Own {
    host: Host,
    options: Options,
    listener: Option<Handle>,
    connection: Option<Handle>,
    buffer: Vec<u8>,
    is_at_end: bool,
    failure: Option<String>,
}

impl Own {
    /// Returns the stacks of the source and of the destination. `mtu` is the length of the largest packet, bytes.
    pub fn pair(configs: [&Config; 2], mtu: u16, seed: u64) -> [Box<dyn Stack>; 2] {
        [0, 1].map(|end| -> Box<dyn Stack> {
            let options = Options { tcp: configs[end].clone(), send_buffer: 1 << 22, ..Options::default() };
            let mut secret = [end as u8; 16];
            secret[8..].copy_from_slice(&seed.to_be_bytes());
            let mut host = Host::new(&[ADDRESSES[end]], mtu, secret);
            let local = SocketAddr::new(ADDRESSES[1], PORT);
            let listener = (end == 1).then(|| host.listen(local, 16, &options).expect("a listener"));
            Box::new(Own {
                host,
                options,
                listener,
                connection: None,
                buffer: vec![7; 1 << 16],
                is_at_end: false,
                failure: None,
            })
        })
    }
}

impl Stack for Own {
    fn layer(&self) -> Layer {
        Layer::Ip
    }

    fn open(&mut self, now: Time) {
        match self.host.connect(now, None, SocketAddr::new(ADDRESSES[1], PORT), &self.options) {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.failure = Some(error.to_string()),
        }
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        assert_ne!(ecn, Ecn::Ce, "the packet has a CE mark, which is missing in the IP header");
        self.host.handle_packet(now, datagram);
        if let Some(listener) = self.listener
            && self.connection.is_none()
        {
            self.connection = self.host.accept(listener).ok().map(|(connection, _)| connection);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.host.handle_timeout(now);
    }

    fn poll_datagram(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SentDatagram> {
        let packet = self.host.poll_packet(now)?;
        datagram.extend_from_slice(packet);
        Some(SentDatagram { ecn: Ecn::of_bits(packet[1]), is_retransmission: None })
    }

    fn poll_timeout(&mut self, _: Time) -> Time {
        self.host.poll_timeout()
    }

    fn write(&mut self, _: Time, bytes: u64) -> u64 {
        let (Some(connection), None) = (self.connection, self.listener) else { return 0 };
        let mut taken = 0;
        while taken < bytes {
            let most = (self.buffer.len() as u64).min(bytes - taken) as usize;
            match self.host.send(connection, &self.buffer[..most]) {
                Ok(sent) => taken += sent as u64,
                Err(_) => break,
            }
        }
        taken
    }

    fn finish(&mut self, _: Time) {
        if let Some(connection) = self.connection {
            let _ = self.host.shutdown(connection);
        }
    }

    fn read(&mut self, _: Time) -> u64 {
        let Some(connection) = self.connection else { return 0 };
        let mut read = 0;
        while let Ok(bytes) = self.host.recv(connection, &mut self.buffer) {
            if bytes == 0 {
                self.is_at_end = true;
                break;
            }
            read += bytes as u64;
        }
        read
    }

    fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}
