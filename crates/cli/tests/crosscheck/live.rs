//! `lasthop crosscheck`: the simulator and real TCP over the same path. Tests are skipped if the machine cannot create
//! namespaces.
use crate::common::lasthop;
use crate::common::machine::{Machine, not_judged};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

fn crosscheck(arguments: &[&str]) -> Output {
    lasthop().arg("crosscheck").args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Returns one object per sender and flow. If the machine cannot run `crosscheck`, prints the reason and returns
/// `None`.
fn compared(arguments: &[&str]) -> Option<Vec<Value>> {
    let output = crosscheck(&[arguments, &["--format", "json"]].concat());
    is_done(&output).then(|| {
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    })
}

/// Returns whether a call succeeded. If the machine cannot run `crosscheck`, prints the reason.
fn is_done(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => return true,
        Some(3) => not_judged(&said),
        Some(1) if ["root", "TUN", "`ip`"].iter().any(|lacking| said.contains(lacking)) => {
            eprintln!("skipped: {said}");
        }
        status => panic!("{status:?}: {said}"),
    }
    false
}

fn difference(object: &Value) -> f64 {
    object["goodput_kbps"]["difference_percent"]["mean"].as_f64().unwrap()
}

/// If the queue is always full, real TCP agrees with the simulator: Lasthop's TCP within 3 % of goodput, the kernel's
/// TCP within 10 %.
#[test]
fn real_tcp_agrees_with_the_simulator_on_a_full_queue() {
    let path = "rate=4Mbit/s,rtt=30ms,queue=20packets";
    let kernels = ["--set", "ack_counting=packets", "--set", "recovery.limited_transmit=true"];
    let senders = ["--senders", "lasthop,lasthop-to-kernel,reno", "--runs", "2", "--set", "duration=3s"];
    let machine = Machine::watch();
    let Some(objects) = compared(&[&[path], kernels.as_slice(), &senders].concat()) else { return };
    assert_eq!(objects.len(), 3);
    for (object, bound) in objects.iter().zip([3.0, 3.0, 10.0]) {
        machine.judge(difference(object).abs() < bound, object);
        let again = |way: &str| object["retransmissions"][way]["mean"].as_f64().unwrap();
        assert!(again("simulated") > 0.0 && again("emulated") > 0.0, "no retransmissions: {object}");
        assert_eq!(object["not_set_in_kernel"], serde_json::json!([]), "{object}");
    }
}

/// The flows send in opposite directions, and one flow is finite. Each flow is compared with its own simulation.
#[test]
fn each_flow_is_compared_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.toml");
    let text = "
        duration = '3 s'
        [link.path]
        from = 'server'
        to = 'client'
        rate = '2 Mbit/s'
        one_way_delay = '10 ms'
        [flow.down]
        from = 'server'
        to = 'client'
        transfer = '250 kB'
        [flow.up]
        from = 'client'
        to = 'server'
        start = '1 s'
        receiver = { window = { kind = 'buffer', size = '20 kB' } }
        [flow.noise]
        kind = 'cbr'
        from = 'server'
        to = 'client'
        packet = '200 bytes'
        rate = '200 kbit/s'";
    fs::write(&file, text).unwrap();
    let machine = Machine::watch();
    let Some(objects) = compared(&[file.to_str().unwrap(), "--senders", "lasthop,reno", "--runs", "2"])
    else {
        return;
    };
    let flows: Vec<&str> = objects.iter().map(|object| object["flow"].as_str().unwrap_or("all")).collect();
    assert_eq!(flows, ["down", "up", "all", "down", "up", "all"]);
    for object in &objects {
        machine.judge(difference(object).abs() < 10.0, object);
    }
}

/// The JSON objects with the first sender's results are printed before the runs of the second sender end. With the sender
/// `kernel`, each flow uses the congestion control that the scenario sets for the flow.
#[test]
fn a_sender_is_printed_when_its_runs_are_done() {
    let flow = |name: &str, congestion: &str| {
        let ends = "from = 'server'\nto = 'client'";
        format!("[flow.{name}]\n{ends}\n[flow.{name}.sender]\ncongestion = '{congestion}'\n")
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.toml");
    let link = "duration = '2 s'\n[link.path]\nfrom = 'server'\nto = 'client'\nrate = '2 Mbit/s'\n";
    let text = format!("{link}one_way_delay = '10 ms'\n{}{}", flow("one", "reno"), flow("other", "cubic"));
    fs::write(&file, text).unwrap();
    let mut command = lasthop();
    command.args(["crosscheck", file.to_str().unwrap(), "--senders", "kernel,reno", "--runs", "1"]);
    command.args(["--format", "json"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut times = Vec::new();
    let mut objects: Vec<Value> = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        objects.push(serde_json::from_str(&line.unwrap()).unwrap());
        times.push(Instant::now());
    }
    let output = child.wait_with_output().unwrap();
    if !is_done(&output) {
        return;
    }
    let of = |key: &str| objects.iter().map(|one| one[key].as_str().unwrap_or("all")).collect::<Vec<_>>();
    assert_eq!(of("flow"), ["one", "other", "all", "one", "other", "all"]);
    assert_eq!(of("sender")[2..4], ["kernel", "kernel, reno"]);
    // A run takes 2 s, so the objects of the second sender must appear about 2 s later.
    let apart = times[3].duration_since(times[2]);
    assert!(apart > Duration::from_millis(1900), "{apart:?}");
}

/// Concurrent runs give the same results as single runs, in the order of the seeds.
#[test]
fn several_runs_at_once_are_as_good_as_one_by_one() {
    let path = "rate=2Mbit/s,rtt=20ms,queue=10packets,loss=1%,duration=2s";
    let arguments = [path, "--senders", "lasthop-to-kernel", "--runs", "2", "--jobs", "2", "--format", "csv"];
    let machine = Machine::watch();
    let output = crosscheck(&arguments);
    if !is_done(&output) {
        return;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let seeds: Vec<u64> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    assert_eq!(seeds, [1, 2]);
    eprintln!("{text}{said}");
    for row in rows {
        let [simulated, emulated] = [row[3], row[4]].map(|kbps| kbps.parse::<f64>().unwrap());
        machine.judge((emulated / simulated - 1.0).abs() < 0.1, &text);
    }
}

/// `all` means Lasthop's senders and each congestion control of the kernel. The runs are as short as possible.
#[test]
fn all_are_those_of_this_machine() {
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    let path = "rate=2Mbit/s,rtt=20ms,queue=10packets,duration=1s";
    let Some(objects) = compared(&[path, "--senders", "all", "--runs", "1"]) else { return };
    let senders: Vec<&str> = objects.iter().map(|one| one["sender"].as_str().unwrap()).collect();
    let kernel = known.split_whitespace().map(|name| format!("kernel, {name}"));
    let expected: Vec<String> =
        ["lasthop", "lasthop to kernel"].into_iter().map(str::to_owned).chain(kernel).collect();
    assert_eq!(senders, expected);
}

#[test]
fn what_cannot_be_done_is_said_in_one_message() {
    let path = "rate=2Mbit/s,rtt=20ms";
    let cases: [(&[&str], i32, &str); 5] = [
        (&[path, "--senders", "Re no"], 2, "expected `lasthop`, `lasthop-to-kernel`, or"),
        (&[path, "--senders", "no such"], 2, "`all`"),
        (&[path, "--set", "segment=40bytes"], 2, "packets of these sizes"),
        (&[path, "--set", "flow.bulk.kind=cbr", "--set", "rate=1Mbit/s"], 2, "flow"),
        (&["no-such-path"], 2, "no-such-path"),
    ];
    for (arguments, status, message) in cases {
        let output = crosscheck(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(message) && !said.contains("panicked"), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty());
    }
    // If the machine can create namespaces, the message is about the unknown kernel setting.
    let output = crosscheck(&[path, "--senders", "nosuch", "--kernel", "tcp_nosuch=1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let lacking = ["tcp_nosuch", "root", "TUN", "`ip`"];
    assert!(lacking.iter().any(|what| said.contains(what)), "{said}");
}
