//! Independent tools read a capture taken at the side of Lasthop's TCP. The tools must find one retransmission for each
//! loss, no reordering and no bad checksum.

use crate::peer::{self, hash};
use crate::{KERNEL, OURS, in_namespace};
use lasthop_base::Duration;
use lasthop_capture::Capture;
use lasthop_emu::{Exchange, Impairment, TunHost};
use lasthop_host::{Host, Options};
use lasthop_os::Tun;
use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;

const BYTES: usize = 3_000_000;

#[test]
fn tshark_and_tcptrace_find_as_many_retransmissions_as_losses() {
    for program in ["tshark", "tcptrace"] {
        if Command::new(program).arg("-v").output().is_err() {
            return println!("skipped: {program} is not installed");
        }
    }
    in_namespace(|tun| {
        let (mut without_timeouts, mut tun) = (0, tun);
        for seed in 1..=12 {
            let is_without_timeouts;
            (is_without_timeouts, tun) = examine(tun, seed);
            without_timeouts += u32::from(is_without_timeouts);
            if without_timeouts == 2 {
                return;
            }
        }
        // The loss of the last segment or of a retransmission causes a timeout. About one transfer of four has a
        // timeout.
        panic!("the comparison with the losses needs runs without timeouts");
    });
}

fn host() -> Host {
    Host::new(&[IpAddr::V4(Ipv4Addr::from(OURS))], 1500, [9; 16])
}

/// Makes one transfer to the kernel; returns whether the transfer had no timeout.
fn examine(tun: Tun, seed: u64) -> (bool, Tun) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ours.pcapng");
    let mut station: TunHost<BufWriter<File>> = TunHost::new(host(), tun);
    station
        .impair(Impairment { loss: 0.004, delay: Duration::from_millis(10), ..Impairment::default() }, seed);
    let file = BufWriter::new(File::create(&path).expect("a file"));
    station.capture(Capture::with_snap_length(file, &["ours"], 100).expect("a capture"));
    let (end, peer) = peer::listening(SocketAddr::from((KERNEL, 0)), Vec::new());
    let text = vec![b'x'; BYTES];
    let handle =
        station.host.connect(station.now(), None, end, &Options::default()).expect("the host connects");
    let mut exchange =
        Exchange::both_ways(handle, Box::new(Cursor::new(text.clone())), Box::new(std::io::sink()));
    while !exchange.advance(&mut station.host).expect("the exchange works") {
        station.turn(Duration::from_millis(100)).expect("the device stays");
        assert!(station.now().as_secs() < 60.0, "the transfer hangs");
    }
    let info = station.host.info(handle).expect("still open");
    let lost = station.lost_on_the_way_out();
    let (tun, _) = station.finish().expect("the capture is written");
    assert!(peer.join().expect("no panic").expect("the kernel's end works") == hash(&text));

    // A capture at the sender has the packets in the order of sending. tshark calls a retransmission "out of order" if
    // the retransmission fills its hole within the RTT of the handshake.
    let again = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.spurious_retransmission \
         || tcp.analysis.out_of_order";
    let ours = format!("ip.src == {} && tcp.len > 0 && ({again})", Ipv4Addr::from(OURS));
    let seen = frames(&path, &ours);
    assert_eq!(seen, info.total_retrans, "seed {seed}: retransmissions seen by tshark and sent");
    assert_eq!(
        frames(&path, "frame.comment contains \"retransmission\""),
        seen,
        "each retransmission has its reason"
    );
    // The filter selects only packets of Lasthop's TCP. For a checksum of 0x0000 the kernel writes 0xffff (RFC 1624
    // §3), which tshark reports as bad.
    let bad = format!(
        "ip.src == {} && (tcp.checksum.status == 0 || ip.checksum.status == 0)",
        Ipv4Addr::from(OURS)
    );
    assert_eq!(frames(&path, &bad), 0, "bad checksums");
    assert_eq!(frames(&path, "_ws.malformed"), 0);
    if info.timeouts > 0 || lost < 3 {
        println!("seed {seed}: {lost} losses, {} timeouts: not compared", info.timeouts);
        return (false, tun);
    }
    // If this process wakes up late, a sender in recovery may run out of data. The sender then retransmits the last
    // segment (RFC 6675 §4, NextSeg rule 4), which was not lost. The comment of that packet contains "rescue".
    let rescues = frames(&path, "frame.comment contains \"retransmission: rescue\"");
    // The losses include pure ACKs (of the handshake or of the peer's FIN), which are not retransmitted. One such loss
    // in a transfer is possible; two such losses are unlikely.
    assert!(
        lost <= seen + 1 && seen <= lost + rescues,
        "seed {seed}: {seen} retransmissions, {lost} losses, {rescues} rescues"
    );
    assert_eq!(retransmitted_by_tcptrace(&path), seen, "seed {seed}: tcptrace");
    (true, tun)
}

fn frames(capture: &Path, filter: &str) -> u64 {
    let output = Command::new("tshark")
        .args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-r"])
        .arg(capture)
        .args(["-Y", filter, "-T", "fields", "-e", "frame.number"])
        .output()
        .expect("tshark runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.iter().filter(|byte| **byte == b'\n').count() as u64
}

fn retransmitted_by_tcptrace(capture: &Path) -> u64 {
    // tcptrace reads only pcap, not pcapng.
    let plain = capture.with_extension("pcap");
    let converted =
        Command::new("tshark").arg("-r").arg(capture).args(["-F", "pcap", "-w"]).arg(&plain).status();
    assert!(converted.expect("tshark runs").success());
    let output = Command::new("tcptrace").arg("-l").arg(&plain).output().expect("tcptrace runs");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let line =
        report.lines().find(|line| line.contains("rexmt data pkts:")).expect("tcptrace prints the count");
    // The first number is the count for the direction from Lasthop's host; the kernel's count follows.
    line.split_whitespace().filter_map(|word| word.parse::<u64>().ok()).next().expect("a number")
}
