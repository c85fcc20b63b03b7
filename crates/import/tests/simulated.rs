//! Imports captures of simulated runs, taken at the sender, at the receiver or between them. The result agrees within 5
//! % with the run's rate, round-trip time and loss.

use lasthop_base::Time;
use lasthop_capture::Capture;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_import::{ImportOptions, ImportResult, Service, read};
use lasthop_scenario::Scenario;
use lasthop_sim::{Observation, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::bytes::{FlowAddresses, Header, Payload, emit};
use lasthop_wire::{Body, FlowId, Packet};
use std::any::Any;
use std::io::sink;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TapPlace {
    Sender,
    Between,
    Receiver,
}

/// Records packets at one point of a path with two links: at the sender, between the links, or at the receiver. Each
/// link direction is a pipe: pipes 0 and 2 are the downlinks, pipes 1 and 3 the uplinks.
struct Tap {
    place: TapPlace,
    seen: Vec<(Time, u64, Packet)>,
}

impl Observer for Tap {
    fn on_packet(&mut self, now: Time, PipeId(pipe): PipeId, packet: &Packet, fate: Fate) {
        let arrival = match fate {
            Fate::Arrives(at) => Some(at),
            _ => None,
        };
        let at = match (self.place, pipe) {
            (TapPlace::Sender, 0) | (TapPlace::Receiver, 3) => Some(now),
            (TapPlace::Sender, 1) | (TapPlace::Between, 0 | 3) | (TapPlace::Receiver, 2) => arrival,
            _ => None,
        };
        if let Some(at) = at {
            let order = self.seen.len() as u64;
            self.seen.push((at, order, *packet));
        }
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

/// Returns a scenario whose bottleneck is the second link of its path.
fn scenario(rate: &str, rtt_ms: f64, queue: &str, channel: &str, seconds: u32, segment: u32) -> Scenario {
    let text = text(rate, rtt_ms, queue, channel, seconds, segment);
    Scenario::parse(&text, "test").expect("a scenario")
}

fn text(rate: &str, rtt_ms: f64, queue: &str, channel: &str, seconds: u32, segment: u32) -> String {
    format!(
        r#"
duration = "{seconds} s"
[link.wired]
from = "server"
to = "bs"
rate = "1 Gbit/s"
one_way_delay = "{} ms"
queue = "unlimited"
[link.wireless]
from = "bs"
to = "client"
one_way_delay = "{} ms"
[link.wireless.down]
rate = "{rate}"
queue = "{queue}"
{channel}
[link.wireless.up]
rate = "{rate}"
queue = "unlimited"
[flow.bulk]
from = "server"
to = "client"
profile = "linux"
segment = "{segment} bytes"
"#,
        rtt_ms * 0.3,
        rtt_ms * 0.2,
    )
}

fn imported(
    scenario: &Scenario,
    place: TapPlace,
    options: &ImportOptions,
    folder: &Path,
) -> (ImportResult, lasthop_sim::Outcome) {
    let (path, outcome) = captured(scenario, place, folder, |packet| vec![packet]);
    let found =
        read(&path, options, &mut sink(), &mut sink()).unwrap_or_else(|error| panic!("{place:?}: {error:?}"));
    (found, outcome)
}

/// Runs a scenario and writes a capture. `cut` returns the packets that the capture contains in place of one packet,
/// such as its fragments.
fn captured(
    scenario: &Scenario,
    place: TapPlace,
    folder: &Path,
    mut cut: impl FnMut(Vec<u8>) -> Vec<Vec<u8>>,
) -> (PathBuf, lasthop_sim::Outcome) {
    let tap = Tap { place, seen: Vec::new() };
    let observation = Observation { observers: vec![Box::new(tap)], ..Observation::default() };
    let (outcome, _, mut observers) = run_observed(scenario, 7, observation);
    let tap = observers.remove(0) as Box<dyn Any>;
    let mut tap = *tap.downcast::<Tap>().expect("the tap");
    tap.seen.sort_by_key(|(at, order, _)| (*at, *order));
    let address = |last| SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)), 40_000);
    let ends = FlowAddresses { source: address(1), destination: address(2) };
    let path = folder.join(format!("{place:?}.pcapng"));
    let file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
    let mut capture = Capture::with_snap_length(file, &["tap"], 120).expect("a capture");
    for (at, _, packet) in &tap.seen {
        let Body::Tcp(segment) = &packet.body else { continue };
        let mut bytes = Vec::new();
        emit(&Header::of(packet, &ends), &packet.body, Payload::Pattern(segment.len), &mut bytes)
            .expect("bytes");
        for bytes in cut(bytes) {
            capture.packet(0, *at, &bytes, bytes.len() as u32, None).expect("written");
        }
    }
    capture.finish().expect("written");
    (path, outcome)
}

/// Splits an IPv4 packet into fragments of at most 1500 bytes (RFC 791 §3.2) with the identification `id`.
fn fragmented(packet: &[u8], id: u16) -> Vec<Vec<u8>> {
    let (header, data) = packet.split_at(20);
    let most = 1480;
    let parts = data.chunks(most).enumerate();
    parts
        .map(|(number, part)| {
            let mut bytes = header.to_vec();
            bytes[2..4].copy_from_slice(&(20 + part.len() as u16).to_be_bytes());
            bytes[4..6].copy_from_slice(&id.to_be_bytes());
            let more = u16::from((number + 1) * most < data.len()) << 13;
            bytes[6..8].copy_from_slice(&(more | (number * most / 8) as u16).to_be_bytes());
            bytes.extend_from_slice(part);
            bytes
        })
        .collect()
}

/// A capture of packets of 3000 bytes, each in three fragments, has the same rate, round-trip time and loss as a
/// capture of whole packets. Incomplete packets are left out and reported.
#[test]
fn fragments_are_put_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let lossy = "channel = { kind = \"iid\", loss = 0.02 }";
    let scenario = scenario("10 Mbit/s", 40.0, "100 packets", lossy, 60, 2948);
    let imported = |path: &Path| {
        read(path, &ImportOptions::default(), &mut sink(), &mut sink())
            .unwrap_or_else(|error| panic!("{error:?}"))
    };
    let whole = imported(&captured(&scenario, TapPlace::Sender, folder.path(), |packet| vec![packet]).0);
    let mut id = 0_u16;
    let mut cut = |packet: Vec<u8>| {
        id = id.wrapping_add(1);
        fragmented(&packet, id)
    };
    let (path, _) = captured(&scenario, TapPlace::Sender, folder.path(), &mut cut);
    let pieces = imported(&path);
    near("rate", rate_of(&pieces), rate_of(&whole), 0.02, &pieces);
    let rtt = |found: &ImportResult| found.rtt_ms.as_ref().expect("a round trip").value;
    near("rtt", rtt(&pieces), rtt(&whole), 0.01, &pieces);
    assert_eq!(of_channel(&pieces, "loss"), of_channel(&whole, "loss"));
    assert_eq!(pieces.segment.as_ref().map(|sourced| sourced.value), Some(2948));
    let line = pieces.findings.iter().find(|line| line.contains("fragments")).expect("a report sentence");
    assert!(line.ends_with("fragments"), "{line}");
    assert!(whole.findings.iter().all(|line| !line.contains("fragment")));

    // Every fiftieth packet lacks its last fragment. The fragments of the other packets are reordered.
    let (mut count, mut gone) = (0, 0);
    let (path, _) = captured(&scenario, TapPlace::Sender, folder.path(), |packet| {
        let mut pieces = cut(packet);
        if pieces.len() > 1 {
            count += 1;
            pieces.reverse();
            if count % 50 == 0 {
                gone += 1;
                pieces.remove(0);
            }
        }
        pieces
    });
    let missing = imported(&path);
    let line = missing.findings.iter().find(|line| line.contains("fragments")).expect("a report sentence");
    assert!(line.contains(&format!("left out: {gone} incomplete packets")), "{line}");
    assert!(gone > 100, "{gone}");
    near("rate", rate_of(&missing), rate_of(&whole), 0.05, &missing);

    let (path, _) = captured(&scenario, TapPlace::Sender, folder.path(), |packet| {
        let pieces = cut(packet);
        if pieces.len() > 1 { pieces[..1].to_vec() } else { Vec::new() }
    });
    let refusal =
        read(&path, &ImportOptions::default(), &mut sink(), &mut sink()).expect_err("no packet is whole");
    assert!(refusal.message.contains("are fragments of incomplete packets"), "{refusal:?}");
}

fn near(what: &str, found: f64, expected: f64, share: f64, all: &ImportResult) {
    assert!((found / expected - 1.0).abs() <= share, "{what}: {found}, not {expected}\n{all:#?}");
}

fn rate_of(found: &ImportResult) -> f64 {
    match found.down.as_ref().expect("a rate").value {
        Service::Rate(rate) => rate,
        Service::Trace { .. } => panic!("a trace"),
    }
}

fn of_channel(found: &ImportResult, key: &str) -> f64 {
    let channel = &found.channel.as_ref().unwrap_or_else(|| panic!("no channel: {found:#?}")).value;
    let behind = channel.split(&format!("{key} = ")).nth(1).unwrap_or_else(|| panic!("{channel}"));
    behind
        .trim_end_matches([' ', '}'])
        .split(',')
        .next()
        .and_then(|text| text.trim().parse().ok())
        .expect("a number")
}

const PLACES: [TapPlace; 3] = [TapPlace::Sender, TapPlace::Between, TapPlace::Receiver];

#[test]
fn a_full_path_is_found_again_from_anywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = scenario("10 Mbit/s", 40.0, "100 packets", "", 30, 1448);
    for place in PLACES {
        let (found, _) = imported(&scenario, place, &ImportOptions::default(), folder.path());
        near("rate", rate_of(&found), 10e6, 0.05, &found);
        near("rtt", found.rtt_ms.as_ref().expect("a round trip").value, 40.0, 0.05, &found);
        assert!(
            found.channel.is_none(),
            "all losses are queue drops, but the import has a channel: {found:#?}"
        );
        // The queue holds 100 packets of 1500 bytes. The packet in transmission is not part of the queue.
        let queue = found.queue.as_ref().expect("a queue").value.clone();
        let bytes: f64 = queue.trim_end_matches(" bytes").parse().expect("bytes");
        near("queue", bytes, 150_000.0, 0.1, &found);
    }
}

#[test]
fn losses_of_the_air_are_found_again_from_anywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    // The random losses keep the congestion window so small that the queue never overflows.
    let scenario =
        scenario("10 Mbit/s", 40.0, "1000 packets", "channel = { kind = \"iid\", loss = 0.02 }", 300, 1448);
    for place in PLACES {
        let (found, outcome) = imported(&scenario, place, &ImportOptions::default(), folder.path());
        near("rate", rate_of(&found), 10e6, 0.05, &found);
        near("rtt", found.rtt_ms.as_ref().expect("a round trip").value, 40.0, 0.05, &found);
        // Share of data packets that were lost over the air in the run, including retransmissions.
        let down = &outcome.links[1].down;
        let on_air = down.lost.iter().filter(|(reason, _)| !reason.is_congestion());
        let lost = on_air.map(|(_, count)| *count).sum::<u64>() as f64 / down.offered as f64;
        near("loss", of_channel(&found, "loss"), lost, 0.05, &found);
    }
}

#[test]
fn a_slow_link_with_small_packets_is_found_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = scenario("384 kbit/s", 200.0, "30 packets", "", 120, 536);
    for place in PLACES {
        let (found, _) = imported(&scenario, place, &ImportOptions::default(), folder.path());
        near("rate", rate_of(&found), 384e3, 0.05, &found);
        near("rtt", found.rtt_ms.as_ref().expect("a round trip").value, 200.0, 0.05, &found);
    }
}

#[test]
fn the_path_that_was_made_runs_as_the_path_it_was_made_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let first =
        scenario("10 Mbit/s", 40.0, "100 packets", "channel = { kind = \"iid\", loss = 0.003 }", 120, 1448);
    let (found, outcome) = imported(&first, TapPlace::Sender, &ImportOptions::default(), folder.path());
    let text = found.scenario(&ImportOptions::default(), "run.pcapng", ["run.down", "run.up"]);
    let second = Scenario::parse(&text, "imported").unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let mean = |scenario: &Scenario| {
        let goodput = |seed| lasthop_sim::run(scenario, seed).flows[0].goodput_kbps();
        (1..=8).map(goodput).sum::<f64>() / 8.0
    };
    // The imported loss is the share of packets lost in the first run, which differs slightly from the channel's
    // probability. The goodput is therefore compared with that run, not with a mean.
    near("goodput", mean(&second), outcome.flows[0].goodput_kbps(), 0.05, &found);
    let rtt = |outcome: &lasthop_sim::Outcome| outcome.flows[0].mean_rtt_s.expect("a round trip");
    near("mean rtt", rtt(&lasthop_sim::run(&second, 7)), rtt(&outcome), 0.1, &found);
}

/// The connection fills the link, so its delivered bytes per tenth of a second are a trace of the link's rate.
#[test]
fn a_rate_that_changes_is_a_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = text("10 Mbit/s", 40.0, "100 packets", "", 20, 1448).replace(
        "[link.wireless.down]\nrate = \"10 Mbit/s\"",
        "[link.wireless.down]\nplan = \"10 Mbit/s for 5 s, 3 Mbit/s for 5 s\"",
    );
    let scenario = Scenario::parse(&text, "test").expect("a scenario");
    let options = ImportOptions { varying: true, ..ImportOptions::default() };
    let (found, _) = imported(&scenario, TapPlace::Receiver, &options, folder.path());
    let mut trace = Vec::new();
    let path = folder.path().join("Receiver.pcapng");
    read(&path, &options, &mut trace, &mut sink()).expect("it can be read");
    let trace = String::from_utf8(trace).expect("text");
    let times: Vec<u64> = trace.lines().map(|line| line.parse().expect("ms")).collect();
    // The test leaves out slow start and a second after each change of the rate.
    for (second, rate) in [(2, 10e6), (4, 10e6), (7, 3e6), (9, 3e6), (12, 10e6), (17, 3e6)] {
        let count = times.iter().filter(|at| **at / 1000 == second).count();
        near(&format!("the rate after {second} s"), count as f64 * 12e3, rate, 0.05, &found);
    }
}

#[test]
fn without_a_handshake_it_goes_on_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = scenario("10 Mbit/s", 40.0, "100 packets", "", 20, 1448);
    let (_, _) = imported(&scenario, TapPlace::Receiver, &ImportOptions::default(), folder.path());
    // The first three packets of the capture are removed.
    let whole = std::fs::read(folder.path().join("Receiver.pcapng")).expect("the capture");
    let mut rest: Vec<u8> = Vec::new();
    let (mut at, mut packets) = (0, 0);
    while at + 12 <= whole.len() {
        let word = |at: usize| u32::from_le_bytes(whole[at..at + 4].try_into().expect("four bytes"));
        let length = word(at + 4) as usize;
        packets += usize::from(word(at) == 6);
        if word(at) != 6 || packets > 3 {
            rest.extend_from_slice(&whole[at..at + length]);
        }
        at += length;
    }
    let path = folder.path().join("rest.pcapng");
    std::fs::write(&path, rest).expect("written");
    let found = read(&path, &ImportOptions::default(), &mut sink(), &mut sink()).expect("it can be read");
    assert!(found.findings.iter().any(|line| line.contains("capture lacks the handshake")), "{found:#?}");
    near("rate", rate_of(&found), 10e6, 0.05, &found);
    near("rtt", found.rtt_ms.as_ref().expect("a round trip").value, 40.0, 0.05, &found);
}
