//! Reads captures with Wireshark's dissectors (tshark) and compares the results with the counters of the run.

mod common;

use common::{LOSSY, call_in, objects, stderr_of};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

type Line = serde_json::Map<String, serde_json::Value>;

#[test]
fn tshark_finds_nothing_wrong_and_as_many_retransmissions_as_there_were() {
    if !has_tshark() {
        return;
    }
    let mut without_timeouts = 0;
    for seed in ["1", "2", "3", "4", "5", "6", "7"] {
        without_timeouts += usize::from(examine(LOSSY, seed));
    }
    assert!(without_timeouts >= 3, "the comparison with the losses needs runs without timeouts");
}

#[test]
fn the_same_holds_behind_arq_and_with_split_acks() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for shape in ["once", "split"] {
        let shape = format!("ack_splitting={shape}");
        let more = ["--set", "duration=30s", "--set", &shape, "--set", "receiver.loss_discrimination=mac"];
        let mut arguments = vec!["run", "hasegawa", "--runs", "1", "--pcap", "a.pcapng", "--trace", "a.json"];
        arguments.extend(["--set", "link.wireless.down.channel.rate=6e-5"]);
        arguments.extend(more);
        let output = call_in(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
        is_sound(&folder.path().join("a.pcapng"));
    }
}

/// Wireshark reads the datagrams of a QUIC flow: a full datagram has 1472 bytes of UDP payload, as many as fill an IPv4
/// packet of 1500 bytes. ACKs flow back.
#[test]
fn quic_flows_are_udp_datagrams() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", LOSSY, "--set", "flow.bulk.kind=quic", "--runs", "1", "--pcap", "q.pcapng"];
    let output = call_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    let lengths = fields(&folder.path().join("q.pcapng"), "udp", &["ip.src", "udp.length"]);
    let full = lengths.iter().filter(|row| **row == "10.0.0.1\t1480").count();
    let back = lengths.iter().filter(|row| row.starts_with("10.0.0.2\t")).count();
    assert!(full > 1000 && back > 300, "{full} full datagrams, {back} back");
    // Each datagram begins with a QUIC header: the client's Initial packet in a datagram of at least 1200 bytes (RFC 9000
    // §14.1), then Initial and Handshake packets of the server, then short headers.
    let capture = folder.path().join("q.pcapng");
    let long = fields(&capture, "quic.header_form == 1", &["ip.src", "quic.long.packet_type", "udp.length"]);
    assert!(long.iter().any(|row| row == "10.0.0.1\t0\t1208"), "{long:?}");
    assert!(long.iter().any(|row| row.starts_with("10.0.0.2\t0,2\t")), "{long:?}");
    let all = fields(&capture, "udp", &["frame.number"]).len();
    let known = fields(&capture, "quic && !quic.header_form == 1", &["quic.dcid"]);
    let identifiers: BTreeSet<&String> = known.iter().collect();
    assert!(
        known.len() + long.len() >= all && identifiers.len() == 2,
        "{} {} {all}",
        known.len(),
        long.len()
    );
}

#[test]
fn headers_alone_are_enough_for_the_analysis() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str, snap: &[&str]| {
        let output = call_in(folder.path(), &[&["run", LOSSY, "--runs", "1", "--pcap", name], snap].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
        folder.path().join(name)
    };
    let (whole, cut) = (record("whole.pcapng", &[]), record("cut.pcapng", &["--snap", "100"]));
    let again = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission";
    assert_eq!(fields(&cut, again, &["frame.number"]), fields(&whole, again, &["frame.number"]));
    assert_eq!(fields(&cut, "tcp", &["frame.len"]), fields(&whole, "tcp", &["frame.len"]));
    assert!(fields(&cut, "frame.cap_len > 100", &["frame.number"]).is_empty());
    let bytes = |capture: &Path| std::fs::metadata(capture).unwrap().len();
    assert!(bytes(&cut) * 3 < bytes(&whole), "{} of {}", bytes(&cut), bytes(&whole));
}

/// Compares a capture and an event trace of the same run. Returns true if the run had no retransmission timeout.
fn examine(path: &str, seed: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", path, "--runs", "1", "--seed", seed, "--pcap", "a.pcapng", "--trace", "a.json"];
    let output = call_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    let capture = folder.path().join("a.pcapng");
    is_sound(&capture);

    let trace = objects(&std::fs::read_to_string(folder.path().join("a.json")).unwrap());
    let count = |key: &str, value: &str| {
        trace.iter().filter(|line| line.get(key).is_some_and(|v| v == value)).count()
    };
    let again = count("event", "retransmitted");
    // A capture at the sender has every packet in sending order, so every packet that tshark calls out of order is a
    // retransmission. Tshark calls a retransmission out of order if it follows new data within the RTT of the handshake
    // and does not begin at the last ACK. Retransmissions of later SACK holes during recovery meet both conditions.
    let seen = fields(
        &capture,
        "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.out_of_order",
        &["frame.number"],
    );
    assert!(again > 10, "seed {seed}: {again}");
    assert_eq!(seen.len(), again, "seed {seed}: retransmissions in tshark and in the trace");
    let is_calm = count("event", "timed_out") == 0;
    if is_calm {
        let is_lost = |line: &&Line| line["kind"] == "lost" && line["from"] == "source";
        let lost: Vec<&Line> = trace.iter().filter(is_lost).collect();
        // Packets lost in the last second may not be retransmitted before the run ends. A round trip takes up to 300 ms
        // with a full queue.
        let late = lost.iter().filter(|line| line["time_s"].as_f64().unwrap() > 29.0).count();
        let repaired = lost.len() - late..=lost.len();
        assert!(
            repaired.contains(&seen.len()),
            "seed {seed}: {} retransmissions, packets lost forward: {repaired:?}",
            seen.len()
        );
    }
    is_calm
}

fn is_sound(capture: &Path) {
    let bad = "tcp.checksum.status != 1 || ip.checksum.status != 1 || _ws.malformed || _ws.short \
               || _ws.expert.severity >= 0x00800000";
    let unsound = fields(capture, bad, &["frame.number", "_ws.expert.message"]);
    assert!(unsound.is_empty(), "{unsound:#?}");
    assert!(fields(capture, "tcp", &["frame.number"]).len() > 100);
}

fn fields(capture: &Path, filter: &str, names: &[&str]) -> Vec<String> {
    let output = Command::new("tshark")
        .arg("-nr")
        .arg(capture)
        .args(["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-Y", filter, "-T", "fields"])
        .args(names.iter().flat_map(|name| ["-e", name]))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr_of(&output));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Returns whether tshark is installed. Prints a message if tshark is missing.
fn has_tshark() -> bool {
    let works = Command::new("tshark").arg("--version").output().is_ok_and(|output| output.status.success());
    if !works {
        println!("skipped: tshark is not installed");
    }
    works
}
