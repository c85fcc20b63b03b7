//! Tests that Wireshark's dissectors read captured packets without complaints.

use lasthop_base::Time;
use lasthop_capture::Capture;
use lasthop_wire::accecn::{AccEcnCounters, CounterOrder};
use lasthop_wire::bytes::{Header, Payload, emit};
use lasthop_wire::{Body, Ecn, Flags, SackBlocks, Segment, Seq, Timestamps};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

const INTERFACES: [&str; 2] = ["source", "wireless down (dropped)"];

#[test]
fn there_are_no_bad_checksums_and_nothing_malformed() {
    let Some(tshark) = Tshark::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.pcapng");
    std::fs::write(&file, conversation(&ENDS_V4, None)).unwrap();
    let status =
        tshark.fields(&file, "", &["ip.checksum.status", "tcp.checksum.status", "udp.checksum.status"]);
    assert_eq!(status.len(), 12, "{status:#?}");
    for packet in status {
        assert!(
            packet == ["1", "1", ""] || packet == ["1", "", "1"],
            "each checksum must have the status 1 (good): {packet:?}"
        );
    }
    tshark.assert_sound(&file);
}

#[test]
fn the_same_holds_over_ipv6() {
    let Some(tshark) = Tshark::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.pcapng");
    std::fs::write(&file, conversation(&ENDS_V6, None)).unwrap();
    let status = tshark.fields(&file, "ipv6", &["tcp.checksum.status", "udp.checksum.status"]);
    assert_eq!(status.len(), 12, "{status:#?}");
    for packet in status {
        assert!(
            packet == ["1", ""] || packet == ["", "1"],
            "each checksum must have the status 1 (good): {packet:?}"
        );
    }
    tshark.assert_sound(&file);
}

#[test]
fn options_times_names_and_comments_are_read_as_meant() {
    let Some(tshark) = Tshark::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.pcapng");
    std::fs::write(&file, conversation(&ENDS_V4, None)).unwrap();

    let syn =
        ["tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.option_kind", "ip.dsfield.ecn", "ip.ttl"];
    let syns = tshark.fields(&file, "tcp.flags.syn == 1", &syn);
    assert_eq!(syns, [["1460", "7", "2,4,8,1,3", "0", "64"], ["1460", "7", "2,4,8,1,3", "0", "64"]]);

    let sack =
        ["tcp.options.sack_le", "tcp.options.sack_re", "tcp.options.timestamp.tsval", "ip.dsfield.ecn"];
    let blocks = tshark.fields(&file, "tcp.options.sack.count > 0", &sack);
    assert_eq!(blocks, [["2001", "3001", "104", "0"], ["4001,2001", "5001,3001", "106", "0"]]);

    let drops = tshark.fields(
        &file,
        "frame.comment",
        &["frame.comment", "frame.interface_name", "frame.time_epoch", "tcp.seq_raw", "ip.dsfield.ecn"],
    );
    assert_eq!(drops, [["dropped: queue_full", INTERFACES[1], "0.004000001", "1001", "2"]]);
}

/// Wireshark must read ACE, the AccECN option in both orders with one to three counters, and all ECN code points (RFC
/// 9768 §3.2.3, RFC 9331 §4.1).
#[test]
fn accurate_ecn_is_read_as_meant() {
    let Some(tshark) = Tshark::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("accecn.pcapng");
    let cases = [
        (Flags::AE | Flags::CWR, CounterOrder::Ect0First, 3, Ecn::Ect1),
        (Flags::CWR | Flags::ECE, CounterOrder::Ect1First, 3, Ecn::Ect0),
        (Flags::AE, CounterOrder::Ect1First, 2, Ecn::Ce),
        (Flags::ECE, CounterOrder::Ect0First, 1, Ecn::NotEct),
    ];
    let mut writer = Capture::new(Vec::new(), &INTERFACES).unwrap();
    for (number, (ace, order, fields, ecn)) in cases.into_iter().enumerate() {
        let mut ack = Segment { flags: Flags::ACK | ace, ..segment(1, 5001, 100 + number as u32) };
        ack.sack.push(Seq(9001), Seq(9501));
        ack.set_accecn(AccEcnCounters::new(order, fields, 70_001, 2, 16_777_215));
        let [source, destination] = ENDS_V4.map(|end| end.parse::<SocketAddr>().unwrap());
        let header = Header { source, destination, ecn, dscp: 0, id: number as u16, ttl: Header::TTL };
        let mut bytes = Vec::new();
        emit(&header, &Body::Tcp(ack), Payload::Pattern(0), &mut bytes).unwrap();
        let time = Time::from_nanos(1_000_000 * number as u64);
        writer.packet(0, time, &bytes, bytes.len() as u32, None).unwrap();
    }
    std::fs::write(&file, writer.finish().unwrap()).unwrap();
    // Once Wireshark has seen an AccECN option, it shows AE, CWR and ECE as one counter, ACE.
    let counters = ["ee0b", "eceb", "ee1b"].map(|field| format!("tcp.options.acc_ecn.{field}"));
    let fields = ["tcp.flags.ace", "ip.dsfield.ecn", &counters[0], &counters[1], &counters[2]];
    assert_eq!(
        tshark.fields(&file, "tcp", &fields),
        [
            ["", "1", "70001", "2", "16777215"],
            ["3", "2", "70001", "2", "16777215"],
            ["4", "3", "", "2", "16777215"],
            ["1", "0", "70001", "", ""],
        ]
    );
    tshark.assert_sound(&file);
}

#[test]
fn the_analysis_of_one_side_sees_one_retransmission() {
    let Some(tshark) = Tshark::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    for snap in [None, Some(100)] {
        let (file, side) = (folder.path().join("all.pcapng"), folder.path().join("source.pcapng"));
        std::fs::write(&file, conversation(&ENDS_V4, snap)).unwrap();
        let filter = format!("frame.interface_name == \"{}\"", INTERFACES[0]);
        tshark.run(&file, &["-Y", &filter, "-w", side.to_str().unwrap()]);
        let again = tshark.fields(&side, "tcp.analysis.retransmission", &["tcp.seq_raw", "frame.time_epoch"]);
        assert_eq!(again, [["1001", "0.010000001"]]);
        assert_eq!(tshark.fields(&side, "tcp.analysis.lost_segment", &["frame.number"]).len(), 0);
        assert_eq!(tshark.fields(&side, "tcp.analysis.duplicate_ack", &["frame.number"]).len(), 2);
    }
}

#[test]
fn tcptrace_reads_one_side() {
    let Some(tshark) = Tshark::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (file, side) = (folder.path().join("all.pcapng"), folder.path().join("source.pcap"));
    std::fs::write(&file, conversation(&ENDS_V4, None)).unwrap();
    let filter = format!("frame.interface_name == \"{}\"", INTERFACES[0]);
    tshark.run(&file, &["-Y", &filter, "-F", "nsecpcap", "-w", side.to_str().unwrap()]);
    let report = match Command::new("tcptrace").arg("-l").arg(&side).output() {
        Ok(output) => String::from_utf8(output.stdout).unwrap(),
        Err(error) => return println!("skipped: tcptrace is not installed ({error})"),
    };
    let line = |name: &str| report.lines().find(|line| line.contains(name)).map(str::split_whitespace);
    let numbers =
        |name: &str| line(name).map(|words| words.filter_map(|word| word.parse().ok()).collect::<Vec<u32>>());
    assert_eq!(numbers("rexmt data pkts"), Some(vec![1, 0]), "{report}");
    assert_eq!(numbers("max sack blks/ack"), Some(vec![0, 2]), "{report}");
    assert_eq!(numbers("unique bytes sent"), Some(vec![4000, 0]), "{report}");
}

/// The program tshark, with all checksum checks enabled.
struct Tshark;

impl Tshark {
    fn find() -> Option<Tshark> {
        match Command::new("tshark").arg("--version").output() {
            Ok(output) if output.status.success() => Some(Tshark),
            Ok(output) => {
                println!("skipped: tshark does not run: {}", String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                println!("skipped: tshark is not installed ({error})");
                None
            }
        }
    }

    fn run(&self, file: &Path, arguments: &[&str]) -> String {
        let checks = ["ip.check_checksum:TRUE", "tcp.check_checksum:TRUE", "udp.check_checksum:TRUE"];
        let output = Command::new("tshark")
            .args(["-n", "-r"])
            .arg(file)
            .args(checks.iter().flat_map(|check| ["-o", check]))
            .args(arguments)
            .output()
            .unwrap();
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {complaints}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn fields(&self, file: &Path, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
        let mut arguments = vec!["-Y", filter, "-T", "fields"];
        fields.iter().for_each(|field| arguments.extend(["-e", field]));
        let lines = self.run(file, &arguments);
        lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }

    /// Asserts that Wireshark finds no malformed or truncated packet, and reports no error in its expert information.
    fn assert_sound(&self, file: &Path) {
        let error = 0x0080_0000;
        let filter = format!("_ws.malformed || _ws.short || _ws.expert.severity >= {error}");
        let unsound = self.fields(file, &filter, &["frame.number", "_ws.expert.message"]);
        assert!(unsound.is_empty(), "{unsound:#?}");
    }
}

type Ends = [&'static str; 2];

/// Ports that no known protocol uses, so that Wireshark does not dissect the payload.
const ENDS_V4: Ends = ["10.0.0.1:40000", "10.0.0.2:40001"];
const ENDS_V6: Ends = ["[2001:db8::1]:40000", "[2001:db8::2]:40001"];

/// Writes a handshake, four data segments, an ACK, two duplicate ACKs with SACK blocks, and a datagram. The second data
/// segment is dropped and retransmitted. The interface `source` has eleven packets; the interface for drops has one.
fn conversation(ends: &Ends, snap: Option<u32>) -> Vec<u8> {
    let data =
        |seq, value| Segment { len: 1000, flags: Flags::ACK | Flags::PSH, ..segment(seq, 5001, value) };
    let ack = |ack, value, blocks: &[(u32, u32)]| {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|(left, right)| sack.push(Seq(*left), Seq(*right)));
        Segment { flags: Flags::ACK, sack, ..segment(5001, ack, value) }
    };
    let syn = Segment {
        flags: Flags::SYN,
        window: 64240,
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        ..segment(0, 0, 100)
    };
    let syn_ack = Segment { seq: Seq(5000), ack: Seq(1), flags: Flags::SYN | Flags::ACK, ..syn };
    let mut writer = match snap {
        None => Capture::new(Vec::new(), &INTERFACES).unwrap(),
        Some(snap) => Capture::with_snap_length(Vec::new(), &INTERFACES, snap).unwrap(),
    };
    let mut id = 0;
    let mut packet = |millis: u64, interface: usize, forward: bool, body: Body, comment: Option<&str>| {
        let [source, destination] = ends.map(|end| end.parse::<SocketAddr>().unwrap());
        let (source, destination) = if forward { (source, destination) } else { (destination, source) };
        let (ecn, len) = match body {
            Body::Tcp(segment) if segment.len > 0 => (Ecn::Ect0, segment.len),
            Body::Tcp(_) => (Ecn::NotEct, 0),
            Body::Datagram { .. } => (Ecn::NotEct, 333),
            Body::Notice(_) => unreachable!("no notice is written here"),
        };
        let header = Header { source, destination, ecn, dscp: 0, id, ttl: Header::TTL };
        id += 1;
        let mut bytes = Vec::new();
        emit(&header, &body, Payload::Pattern(len), &mut bytes).unwrap();
        let time = Time::from_nanos(millis * 1_000_000 + 1);
        writer.packet(interface, time, &bytes, bytes.len() as u32, comment).unwrap();
    };
    packet(0, 0, true, Body::Tcp(syn), None);
    packet(1, 0, false, Body::Tcp(syn_ack), None);
    packet(2, 0, true, Body::Tcp(Segment { len: 1000, flags: Flags::ACK, ..segment(1, 5001, 102) }), None);
    packet(3, 0, true, Body::Tcp(data(1001, 103)), None);
    packet(4, 1, true, Body::Tcp(data(1001, 103)), Some("dropped: queue_full"));
    packet(5, 0, true, Body::Tcp(data(2001, 103)), None);
    packet(6, 0, false, Body::Tcp(ack(1001, 103, &[])), None);
    packet(7, 0, false, Body::Tcp(ack(1001, 104, &[(2001, 3001)])), None);
    packet(8, 0, true, Body::Tcp(data(3001, 105)), None);
    packet(8, 0, true, Body::Datagram { number: 3 }, None);
    packet(9, 0, false, Body::Tcp(ack(1001, 106, &[(4001, 5001), (2001, 3001)])), None);
    packet(10, 0, true, Body::Tcp(data(1001, 107)), None);
    writer.finish().unwrap()
}

fn segment(seq: u32, ack: u32, value: u32) -> Segment {
    let timestamps = Some(Timestamps { value, echo: value.saturating_sub(1) });
    Segment { seq: Seq(seq), ack: Seq(ack), window: 502, timestamps, ..Segment::default() }
}
