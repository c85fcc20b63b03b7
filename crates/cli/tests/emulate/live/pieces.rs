//! The kernel hands over many segments in one piece (GSO). These segments become separate packets on the path.

use crate::common::machine::Machine;
use crate::live::traffic::{client, server};
use crate::{emulate, is_possible, summary};
use std::path::Path;
use std::process::Command;

/// Returns the data packets captured at an end: the capture time of each packet, s, and whether all checksums of the
/// packet are right.
fn data(capture: &Path, end: &str) -> Vec<(f64, bool)> {
    let filter = format!("frame.interface_name == \"{end}\" && tcp.srcport == 5001 && tcp.len > 0");
    let options = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"];
    let fields = ["frame.time_epoch", "tcp.checksum.status", "ip.checksum.status", "ip.len"];
    let output = Command::new("tshark")
        .arg("-r")
        .arg(capture)
        .args(options)
        .args(["-Y", &filter, "-T", "fields"])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| {
        let [time, sums @ .., length] = &line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!(length.parse::<u32>().unwrap() <= 1500, "{line}");
        // In Wireshark, status 1 means that the checksum is right.
        (time.parse().unwrap(), sums.iter().all(|status| *status == "1"))
    };
    text.lines().map(line).collect()
}

#[test]
fn segments_of_one_piece_take_their_time_on_the_link() {
    if !is_possible() {
        return;
    }
    if Command::new("tshark").arg("--version").output().is_err() {
        return eprintln!("skipped: tshark, which reads the captures, is not installed");
    }
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("capture.pcapng");
    let path = "rate=4Mbit/s,rtt=20ms,queue=200packets";
    let client = client("{server}", 1.0);
    let server = server("cubic");
    let words = [
        path,
        "--pcap",
        capture.to_str().unwrap(),
        "--server",
        &server,
        "--format",
        "json",
        "--",
        "sh",
        "-c",
        &client,
    ];
    let mut machine = Machine::watch();
    let output = emulate(&words);
    let summary = summary(&output);
    machine.heed(&summary);
    let (entered, left) = (data(&capture, "server"), data(&capture, "client"));
    assert!(
        left.len() > 100 && entered.len() >= left.len(),
        "{} of {}; {summary}",
        left.len(),
        entered.len()
    );
    assert!(entered.iter().chain(&left).all(|(_, is_right)| *is_right), "a checksum is wrong");
    // The kernel hands over the initial window of ten segments (RFC 6928) in one piece, so some segments enter at the
    // same time.
    assert!(entered[..10].windows(2).any(|pair| pair[0].0 == pair[1].0), "{:?}", &entered[..10]);
    // 1500 bytes take 3 ms at 4 Mbit/s. Packets after a late packet follow at shorter intervals, but no packet is
    // early.
    let spans = left.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let (first, tenth) = (entered[0].0, left[9].0);
    assert!(
        tenth - first > 10.0 * 0.003 + 0.010 - 0.0005,
        "the tenth arrives after {} s; {summary}",
        tenth - first
    );
    let near = spans.filter(|span| *span < 0.002).count();
    machine.judge(
        near * 50 < left.len(),
        format!("{near} of {} packets follow the previous packet at once; {summary}", left.len()),
    );
}
