//! Tests of the agent's data path in the kernel (BPF). BPF and NFQUEUE give equal windows, a stopped agent stalls no
//! connection, and no BPF program remains at the end.

use crate::common::machine::Machine;
use crate::path::Path;
use crate::transfer::Transfer;
use crate::{Agent, alone, deep_path};
use lasthop_agent::program;
use lasthop_os::ends::CLIENT;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

const DEVICE: &str = "lasthop-path";
/// Arguments of the agent for a window of two segments. At a round-trip time of 20 ms, this window gives about 1.1
/// Mbit/s.
const FEW: &[&str] = &["--window", "fixed=2KiB", "--path", "bpf"];

/// Opens a path. Returns `None` if the machine cannot run an agent or the kernel refuses the BPF program.
fn begin() -> Option<(std::sync::MutexGuard<'static, ()>, Path)> {
    let alone = alone()?;
    if let Err(why) = program::trial() {
        println!("skipped: {why}");
        return None;
    }
    Some((alone, deep_path()?))
}

fn programs(path: &Path, device: &str) -> usize {
    path.at_client(|| program::count_attached(device).unwrap())
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: not within 20 s");
        sleep(Duration::from_millis(20));
    }
}

/// Returns the number of bytes received within the time `long`, and the longest time in which no data was received.
fn watched(transfer: &Transfer, long: Duration) -> (u64, Duration) {
    let (start, before) = (Instant::now(), transfer.received());
    let (mut last, mut since, mut longest) = (before, start, Duration::ZERO);
    while start.elapsed() < long {
        sleep(Duration::from_millis(5));
        let received = transfer.received();
        if received != last {
            (last, since) = (received, Instant::now());
        }
        longest = longest.max(since.elapsed());
    }
    (last - before, longest)
}

#[test]
fn a_window_is_held_by_both_ways() {
    let Some((_alone, _)) = begin() else { return };
    for way in ["bpf", "nfqueue", "auto"] {
        let path = deep_path().unwrap();
        let machine = Machine::watch();
        let agent = Agent::start(&path, &["--window", "fixed=64KiB", "--path", way]);
        let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
        assert!(transfer.goes_on(20), "{way}");
        sleep(Duration::from_secs(1));
        // The transmission of a window of 64 KiB takes 52 ms on the link; a full queue would take 600 ms.
        let srtt = transfer.mean_srtt(&path, 2);
        let status = agent.status();
        println!("{way}: {srtt} ms; {status:?}");
        machine.judge(srtt < 100.0, format!("{way}: {srtt} ms"));
        assert_eq!(status["path"], if way == "nfqueue" { "nfqueue" } else { "bpf" });
        assert!(status["acks_rewritten"].as_u64() > Some(100), "{way}: {status:?}");
        assert_eq!(status["errors"], 0, "{way}: {status:?}");
        let flow = &status["flows"][0];
        assert!((60_000..=65_536 + 1024).contains(&flow["window_bytes"].as_u64().unwrap()), "{way}: {flow}");
        assert!(flow["kernel_window_bytes"].as_u64() > flow["window_bytes"].as_u64(), "{way}: {flow}");
    }
}

#[test]
fn a_stopped_agent_stalls_nothing_and_the_kernels_window_is_told() {
    let Some((_alone, path)) = begin() else { return };
    let agent = Agent::start(&path, FEW);
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    // The wait ends when the client has received more data than the window advertised with the SYN allows.
    wait_until("the transfer begins", || transfer.received() > 1 << 18);
    let (held, _) = watched(&transfer, Duration::from_secs(1));
    agent.signal("STOP");
    let machine = Machine::watch();
    let (got, longest) = watched(&transfer, Duration::from_secs(2));
    println!(
        "{held} bytes in 1 s; with the agent stopped {got} bytes in 2 s, at most {longest:?} without data"
    );
    assert!(held < 300_000, "more than two segments per 20 ms: {held} bytes in 1 s");
    machine.judge(got > 1_200_000, format!("the kernel's window fills the link: {got} bytes"));
    machine.judge(longest < Duration::from_millis(400), format!("{longest:?}"));
    agent.signal("CONT");
    sleep(Duration::from_millis(100));
    drop(transfer);
    let second = Transfer::begin(&path, "cubic", 5002).unwrap();
    wait_until("the transfer begins", || second.received() > 1 << 14);
    let window =
        || agent.status()["flows"].as_array().unwrap().iter().any(|flow| flow["window_bytes"] == 3072);
    wait_until("the window of the second connection is small", window);
}

#[test]
fn nothing_of_a_killed_agent_stays() {
    let Some((_alone, path)) = begin() else { return };
    assert_eq!(programs(&path, DEVICE), 0);
    let mut agent = Agent::start(&path, FEW);
    assert_eq!(programs(&path, DEVICE), 2, "one program at egress and one at ingress");
    assert_eq!(programs(&path, "lo"), 0);
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    wait_until("the transfer begins", || transfer.received() > 1 << 18);
    agent.signal("KILL");
    agent.child.wait().unwrap();
    wait_until("the programs are removed", || programs(&path, DEVICE) == 0);
    let machine = Machine::watch();
    let (got, longest) = watched(&transfer, Duration::from_secs(2));
    let is_uninterrupted = got > 1_200_000 && longest < Duration::from_millis(400);
    machine.judge(is_uninterrupted, format!("{got} bytes, {longest:?}"));

    (agent.child, agent.said) = Agent::start_in(&path, agent.folder.path(), FEW).unwrap();
    assert_eq!(programs(&path, DEVICE), 2);
    let _ = watched(&transfer, Duration::from_millis(500));
    let status = agent.status();
    assert!(status["acks_left_alone"].as_u64() > Some(0), "{status:?}");
    assert_eq!((&status["acks_rewritten"], &status["connections"]), (&0.into(), &0.into()), "{status:?}");
    agent.signal("TERM");
    assert_eq!(agent.child.wait().unwrap().code(), Some(0));
    assert_eq!(programs(&path, DEVICE), 0);
}

#[test]
fn a_device_that_comes_later_is_looked_after() {
    let Some((_alone, path)) = begin() else { return };
    let _agent = Agent::start(&path, FEW);
    let ip = |words: &[&str]| path.at_client(|| Command::new("ip").args(words).status().unwrap().success());
    assert!(ip(&["link", "add", "later0", "type", "veth", "peer", "name", "later1"]));
    wait_until("programs attached", || programs(&path, "later0") == 2 && programs(&path, "later1") == 2);
    assert!(ip(&["link", "del", "later0"]));
    assert!(ip(&["link", "add", "later0", "type", "veth", "peer", "name", "later1"]));
    wait_until("a recreated device has programs, too", || programs(&path, "later0") == 2);
}

/// The BPF program reports packets to the agent once per millisecond, NFQUEUE reports each packet. The resulting
/// windows are equal.
#[test]
fn estimates_are_those_of_each_packet() {
    let Some(_alone) = begin() else { return };
    let window = |way: &str| {
        let path = Path::open("rate=50Mbit/s,rtt=40ms,queue=1000packets").unwrap();
        let agent = Agent::start(&path, &["--window", "dynamic", "--path", way]);
        let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
        wait_until("slow start is over", || transfer.received() > 15 << 20);
        let status = agent.status();
        let flow = &status["flows"][0];
        let rtt = flow["min_rtt_ms"].as_f64().unwrap();
        println!("{way}: {flow}; {} packets", status["packets_seen"]);
        (flow["window_bytes"].as_f64().unwrap(), rtt)
    };
    // The expected window is twice the product of payload rate and round-trip time.
    let expected = 2.0 * 50e6 / 8.0 * 1448.0 / 1500.0 * 0.040;
    let tries = (0..4).map(|_| [window("bpf"), window("nfqueue")]);
    let is_right = |[(one, rtt), (other, other_rtt)]: [(f64, f64); 2]| {
        let near = |value: f64, expected: f64, share: f64| (value / expected - 1.0).abs() < share;
        near(one, expected, 0.1) && near(one, other, 0.05) && near(rtt, other_rtt, 0.02)
    };
    assert!(tries.into_iter().any(is_right), "{expected} expected");
}

/// The packets of a connection accepted over a bridge pass two devices. The agent handles each packet only once.
#[test]
fn connections_that_were_accepted_over_a_bridge_are_looked_after() {
    let Some(_alone) = begin() else { return };
    let path = match Path::wired() {
        Ok(path) => path,
        Err(why) => return println!("skipped: {why}"),
    };
    let agent = Agent::start(&path, &["--window", "fixed=32KiB", "--path", "bpf"]);
    assert_eq!((programs(&path, "card"), programs(&path, "bridge")), (2, 2));
    let listener = path.at_client(|| TcpListener::bind((CLIENT, 5003)).unwrap());
    let mut sender = path.at_server(|| TcpStream::connect((CLIENT, 5003)).unwrap());
    let (mut receiver, _) = listener.accept().unwrap();
    let total = 20 << 20;
    let sends = std::thread::spawn(move || sender.write_all(&vec![7; total]));
    let received = std::io::copy(&mut receiver, &mut std::io::sink()).unwrap();
    sends.join().unwrap().unwrap();
    assert_eq!(received, total as u64);
    let status = agent.status();
    let flow = &status["flows"][0];
    assert_eq!(flow["own"], format!("{CLIENT}:5003"), "{status:?}");
    // The window advertised with the SYN applies to the first 64 KiB. The agent's window of 32 KiB applies to later
    // data, but the kernel may advertise a smaller window.
    let window = flow["window_bytes"].as_u64().unwrap();
    assert!((1..=32_768 + 1024).contains(&window), "{status:?}");
    assert!(status["acks_rewritten"].as_u64() > Some(100), "{status:?}");
    let [sent, _] = counted(&path, &["OutSegs", "RetransSegs"], true);
    assert!(status["acks_queued"].as_u64().unwrap() <= sent, "{sent} sent; {status:?}");
    assert_eq!(status["errors"], 0, "{status:?}");
}

/// On kernels before 6.6, the BPF program is attached as a tc filter. The filter of a killed agent has no effect, and
/// the next agent removes this filter.
#[test]
fn where_there_is_no_tcx_a_filter_does_the_same() {
    let Some((_alone, path)) = begin() else { return };
    let filters = || {
        let show = |way: &str| {
            path.at_client(|| {
                Command::new("tc").args(["filter", "show", "dev", DEVICE, way]).output().unwrap()
            })
        };
        let text = ["egress", "ingress"].map(|way| String::from_utf8(show(way).stdout).unwrap()).concat();
        text.matches("direct-action").count()
    };
    let few = ["--window", "fixed=2KiB", "--path", "clsact"];
    let mut agent = Agent::start(&path, &few);
    assert_eq!((programs(&path, DEVICE), filters()), (0, 2));
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    wait_until("the transfer begins", || transfer.received() > 1 << 18);
    let (held, _) = watched(&transfer, Duration::from_secs(1));
    assert!(held < 300_000, "more than two segments per 20 ms: {held} bytes in 1 s");
    agent.signal("KILL");
    agent.child.wait().unwrap();
    let machine = Machine::watch();
    let (got, longest) = watched(&transfer, Duration::from_secs(2));
    let is_uninterrupted = got > 1_200_000 && longest < Duration::from_millis(400);
    machine.judge(is_uninterrupted, format!("{got} bytes, {longest:?}"));
    assert_eq!(filters(), 2);
    (agent.child, agent.said) = Agent::start_in(&path, agent.folder.path(), &few).unwrap();
    assert_eq!(filters(), 2);
    agent.signal("TERM");
    assert_eq!(agent.child.wait().unwrap().code(), Some(0));
    assert_eq!(filters(), 0);
}

/// Returns TCP counters of the client or of the server (RFC 2013 and Linux).
fn counted<const N: usize>(path: &Path, names: &[&str; N], at_client: bool) -> [u64; N] {
    let read = || std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let text = if at_client { path.at_client(read) } else { path.at_server(read) };
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (columns, values) = (lines.next().unwrap(), lines.next().unwrap());
    names.map(|name| {
        let at = columns.split(' ').position(|one| one == name).unwrap();
        values.split(' ').nth(at).unwrap().parse().unwrap()
    })
}

/// Returns the number of TCP segments received by the server, and the number of these segments with a wrong checksum
/// (Linux counter InCsumErrors).
fn arrived(path: &Path) -> [u64; 2] {
    counted(path, &["InSegs", "InCsumErrors"], false)
}

#[test]
fn added_acks_arrive_and_their_checksums_are_right() {
    let Some((_alone, path)) = begin() else { return };
    for (acks, begin) in
        [("split=4", Transfer::begin as fn(&Path, &str, u16) -> _), ("copies=3", Transfer::begin6)]
    {
        let arguments = ["--window", "fixed=64KiB", "--acks", acks, "--path", "bpf"];
        let agent = Agent::start(&path, &arguments);
        let [before, wrong] = arrived(&path);
        let transfer: Option<Transfer> = begin(&path, "cubic", if acks == "split=4" { 5001 } else { 5002 });
        let transfer = transfer.unwrap();
        wait_until("the data arrives", || transfer.received() > 2 << 20);
        let status = agent.status();
        sleep(Duration::from_millis(100));
        let [after, wrong_after] = arrived(&path);
        let count = |name: &str| status[name].as_u64().unwrap();
        let (own, added) = (count("acks_queued"), count("acks_added"));
        println!("{acks}: {own} own, {added} added, {} arrived", after - before);
        let others = if acks == "split=4" { 3 } else { 2 };
        assert!(own > 300 && added <= others * own && added * 10 > others * own * 9, "{status:?}");
        assert!(after - before >= own + added, "{} of {own} + {added}", after - before);
        assert_eq!((wrong_after, &status["errors"]), (wrong, &0.into()), "{status:?}");
    }
}
