//! Tests of the host's responses to hand-written packets.

use lasthop_base::Time;
use lasthop_host::{Error, Handle, Host, Options};
use lasthop_tcp::Config;
use lasthop_wire::bytes::{Checksums, Content, FlowAddresses, Header, Payload, emit, parse};
use lasthop_wire::{Body, Ecn, Flags, Segment, Seq};
use std::net::{IpAddr, SocketAddr};

const NOW: Time = Time::ZERO;
const SYN_ACK: Flags = Flags(0x12);
const IRS: Seq = Seq(5000);

fn end(address: &str) -> SocketAddr {
    address.parse().expect("an address and a port")
}

fn ours() -> [IpAddr; 3] {
    ["10.0.0.1", "10.0.0.3", "fd00::1"].map(|address| address.parse().expect("an address"))
}

fn host(mtu: u16) -> Host {
    Host::new(&ours(), mtu, [3; 16])
}

fn packet(from: SocketAddr, to: SocketAddr, segment: Segment, bytes: &[u8]) -> Vec<u8> {
    let header = Header { source: from, destination: to, ecn: Ecn::NotEct, dscp: 0, id: 0, ttl: Header::TTL };
    let segment = Segment { len: bytes.len() as u32, ..segment };
    let mut out = Vec::new();
    emit(&header, &Body::Tcp(segment), Payload::Bytes(bytes), &mut out).expect("a packet");
    out
}

fn sent(host: &mut Host) -> Option<(Header, Segment)> {
    let parsed = parse(host.poll_packet(NOW)?, Checksums::Verify).expect("a packet");
    let Content::Tcp(segment) = parsed.content else { panic!("TCP") };
    Some((parsed.header, segment))
}

/// Delivers a SYN-ACK in response to the host's SYN. The SYN-ACK has the flags and options of `change`, and the payload
/// `bytes`.
fn answer(host: &mut Host, syn: (Header, Segment), change: Segment, bytes: &[u8]) {
    let (Header { source, destination, .. }, Segment { seq, .. }) = syn;
    let answer =
        Segment { seq: IRS, ack: seq.at(1), flags: SYN_ACK | change.flags, window: 60_000, ..change };
    host.handle_packet(NOW, &packet(destination, source, answer, bytes));
}

fn connect(
    host: &mut Host,
    local: Option<&str>,
    remote: &str,
    options: &Options,
) -> (Handle, (Header, Segment)) {
    let handle = host.connect(NOW, local.map(end), end(remote), options).expect("it connects");
    let syn = std::iter::from_fn(|| sent(host)).find(|(_, segment)| segment.flags.has(Flags::SYN));
    (handle, syn.expect("the SYN"))
}

/// A listener drops segments that have neither SYN nor ACK (RFC 9293 §3.10.7.2, "fourth"). On a port without a
/// listener, the host answers every segment except a RST with a RST (§3.10.7.1).
#[test]
fn a_listener_drops_what_neither_opens_nor_acknowledges() {
    let mut host = host(1500);
    host.listen(end("10.0.0.1:80"), 4, &Options::default()).expect("it listens");
    let mut answers = |port: u16, flags| {
        let to = SocketAddr::new(ours()[0], port);
        let segment = Segment { seq: Seq(77), ack: Seq(99), flags, ..Segment::default() };
        host.handle_packet(NOW, &packet(end("10.0.0.2:5"), to, segment, b"x"));
        let answer = sent(&mut host).map(|(_, segment)| segment.flags);
        (answer, host.sockets())
    };
    for flags in [Flags::default(), Flags::FIN, Flags::PSH, Flags::FIN | Flags::URG, Flags::SYN | Flags::FIN]
    {
        assert_eq!(answers(80, flags), (None, 1), "{flags:?}");
        assert_eq!(answers(81, flags), (Some(Flags::RST | Flags::ACK), 1), "{flags:?}");
    }
    for flags in [Flags::RST, Flags::RST | Flags::ACK] {
        assert_eq!((answers(80, flags), answers(81, flags)), ((None, 1), (None, 1)));
    }
    for flags in [Flags::ACK, SYN_ACK, Flags::FIN | Flags::ACK] {
        assert_eq!(answers(80, flags), (Some(Flags::RST), 1), "{flags:?}");
    }
    assert_eq!(answers(80, Flags::SYN), (Some(SYN_ACK), 2));
}

/// Data on a SYN-ACK is the start of the peer's stream (RFC 9293 §3.10.7.3). If the SYN-ACK also has a FIN, the data is
/// the whole stream.
#[test]
fn bytes_of_a_syn_ack_are_read() {
    let mut host = host(1500);
    let mut buffer = [0; 20];
    let (open, syn) = connect(&mut host, None, "10.0.0.2:80", &Options::default());
    answer(&mut host, syn, Segment::default(), b"220 ready");
    assert_eq!(sent(&mut host).expect("an ACK").1.ack, IRS.at(1 + 9));
    let (Header { source, destination, .. }, Segment { seq, .. }) = syn;
    let more = Segment { seq: IRS.at(10), ack: seq.at(1), flags: Flags::ACK, ..Segment::default() };
    host.handle_packet(NOW, &packet(destination, source, more, b", go on"));
    assert_eq!(host.recv(open, &mut buffer), Ok(16));
    assert_eq!(&buffer[..16], b"220 ready, go on");
    let (whole, syn) = connect(&mut host, None, "10.0.0.2:81", &Options::default());
    answer(&mut host, syn, Segment { flags: Flags::FIN, ..Segment::default() }, b"all of it");
    assert_eq!(host.recv(whole, &mut buffer), Ok(9));
    assert_eq!(&buffer[..9], b"all of it");
    assert_eq!(host.recv(whole, &mut buffer), Ok(0));
    // The host does not acknowledge data on the SYN of a simultaneous open. The peer must retransmit the data.
    let (crossed, (header, _)) = connect(&mut host, None, "10.0.0.2:82", &Options::default());
    let syn = Segment { seq: IRS, flags: Flags::SYN, window: 60_000, ..Segment::default() };
    host.handle_packet(NOW, &packet(header.destination, header.source, syn, b"lost"));
    let (header, answered) = std::iter::from_fn(|| sent(&mut host)).last().expect("the SYN-ACK");
    assert_eq!((answered.flags, answered.ack), (SYN_ACK, IRS.at(1)));
    answer(&mut host, (header, answered), Segment::default(), b"found");
    assert_eq!(host.recv(crossed, &mut buffer), Ok(5));
    assert_eq!(&buffer[..5], b"found");
}

/// MUST-67: the value of the MSS option is the MTU less the fixed headers. MUST-16: if the host sends timestamps, the
/// largest payload is 12 bytes less than the peer's MSS. MUST-15: if the peer sends no MSS option, its MSS is 536 bytes
/// over IPv4 and 1220 bytes over IPv6.
#[test]
fn the_mss_follows_from_the_mtu_the_peer_and_what_is_sent() {
    for (remote, mtu, mss) in
        [("10.0.0.2:80", 1500, 1460), ("[fd00::2]:80", 1500, 1440), ("10.0.0.2:80", 1280, 1240)]
    {
        for timestamps in [false, true] {
            let options =
                Options { tcp: Config { timestamps, ..Options::default().tcp }, ..Options::default() };
            let payload_for = |observed: Option<u16>, agrees: bool| {
                let mut host = host(mtu);
                let (handle, syn) = connect(&mut host, None, remote, &options);
                assert_eq!(syn.1.mss, Some(mss));
                let stamps = syn.1.timestamps.filter(|_| agrees);
                answer(
                    &mut host,
                    syn,
                    Segment { mss: observed, timestamps: stamps, ..Segment::default() },
                    b"",
                );
                host.info(handle).expect("a connection").snd_mss
            };
            let mss = u64::from(mss);
            let taken = if timestamps { 12 } else { 0 };
            assert_eq!(payload_for(Some(9000), false), mss);
            assert_eq!(payload_for(Some(9000), true), mss - taken);
            assert_eq!((payload_for(Some(1000), false), payload_for(Some(1000), true)), (1000, 1000 - taken));
            let unsaid = if remote.starts_with('[') { 1220 } else { 536 };
            assert_eq!((payload_for(None, false), payload_for(None, true)), (unsaid, unsaid - taken));
        }
    }
}

/// MUST-43 to MUST-45: the application may choose the local address. The default is the first address of the remote
/// address's family. The local address of a connection never changes. MUST-48 and MUST-49: the application sets the DS
/// field and the time to live.
#[test]
fn the_local_address_and_fields_of_the_ip_header() {
    let mut host = host(1500);
    let options = Options { dscp: 46, ttl: 3, ..Options::default() };
    for (named, remote, source) in [
        (Some("10.0.0.3:0"), "10.0.0.2:80", "10.0.0.3"),
        (None, "10.0.0.2:80", "10.0.0.1"),
        (Some("0.0.0.0:0"), "10.0.0.2:81", "10.0.0.1"),
        (None, "[fd00::2]:80", "fd00::1"),
    ] {
        let (handle, syn) = connect(&mut host, named, remote, &options);
        let source: IpAddr = source.parse().expect("an address");
        assert_eq!((syn.0.source.ip(), syn.0.dscp, syn.0.ttl), (source, 46, 3));
        answer(&mut host, syn, Segment::default(), b"");
        assert_eq!(host.send(handle, b"x"), Ok(1));
        for (header, _) in std::iter::from_fn(|| sent(&mut host)) {
            assert_eq!((header.source, header.dscp, header.ttl), (syn.0.source, 46, 3));
        }
        assert_eq!(host.ends(handle), Ok(FlowAddresses { source: syn.0.source, destination: end(remote) }));
    }
    // A listener with a specified address receives only packets to that address.
    host.listen(end("10.0.0.3:80"), 4, &options).expect("it listens");
    for (to, flags) in [("10.0.0.3:80", SYN_ACK), ("10.0.0.1:80", Flags::RST | Flags::ACK)] {
        let syn = Segment { flags: Flags::SYN, ..Segment::default() };
        host.handle_packet(NOW, &packet(end("10.0.0.2:5"), end(to), syn, b""));
        let (header, segment) = sent(&mut host).expect("an answer");
        assert_eq!((header.source, segment.flags), (end(to), flags));
    }
}

/// MUST-41: a passive open does not affect existing connections, whether the passive open succeeds or fails. MUST-42: a
/// passive open succeeds even while a connection with the same local port is in SYN-SENT or SYN-RECEIVED.
#[test]
fn listening_leaves_connections_alone() {
    let mut host = host(1500);
    let options = Options::default();
    let (handle, syn) = connect(&mut host, Some("10.0.0.1:80"), "10.0.0.2:80", &options);
    let listener = host
        .listen(end("10.0.0.1:80"), 4, &options)
        .expect("a listener is possible besides a connection in SYN-SENT");
    answer(&mut host, syn, Segment::default(), b"");
    assert_eq!((host.send(handle, b"x"), host.accept(listener)), (Ok(1), Err(Error::WouldBlock)));
    while sent(&mut host).is_some() {}
    // While a connection is in SYN-RECEIVED, a listener for all addresses succeeds. A second listener with the same
    // address fails.
    let syn = Segment { seq: IRS, flags: Flags::SYN, window: 60_000, ..Segment::default() };
    host.handle_packet(NOW, &packet(end("10.0.0.2:5"), end("10.0.0.1:80"), syn, b""));
    let half = sent(&mut host).expect("the SYN-ACK");
    assert_eq!(host.listen(end("10.0.0.1:80"), 4, &options), Err(Error::AddressInUse));
    host.listen(end("0.0.0.0:80"), 4, &options)
        .expect("a listener is possible besides a connection in SYN-RECEIVED");
    let ack = Segment { seq: IRS.at(1), ack: half.1.seq.at(1), flags: Flags::ACK, ..Segment::default() };
    host.handle_packet(NOW, &packet(end("10.0.0.2:5"), end("10.0.0.1:80"), ack, b"here"));
    let (accepted, _) = host.accept(listener).expect("the first listener has a connection");
    assert_eq!(host.recv(accepted, &mut [0; 9]), Ok(4));
    assert_eq!(host.send(handle, b"y"), Ok(1));
}
