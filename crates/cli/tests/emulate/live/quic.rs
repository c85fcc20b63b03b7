//! QUIC over real UDP sockets behind a path, against the same stack in the simulator.

use crate::common::machine::Machine;
use crate::common::{objects, stdout};
use crate::{emulate, is_possible, summary};
use std::path::PathBuf;
use std::process::Command;

const SECONDS: f64 = 20.0;
const RUNS: f64 = 12.0;
/// Student's t for 11 degrees of freedom: 95 % and 99.9 %, two-sided.
const T: [f64; 2] = [2.201, 4.437];
/// Allowed relative difference between real and simulated goodput, in addition to the spread of runs. The destination
/// opens the connection 30 ms later than in the simulator, and timers of the operating system are late.
const MARGIN: f64 = 0.02;

/// The example `over_udp` of `lasthop-quic`, which carries a flow of the same stack over a UDP socket.
fn program() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().and_then(|deps| deps.parent()).unwrap().to_owned();
    let file = folder.join("examples/over_udp");
    if !file.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "lasthop-quic", "--example", "over_udp"]);
        assert!(build.status().unwrap().success(), "the example over_udp is not built");
    }
    file
}

/// The real goodput lies within the 99.9 % prediction interval of a simulated run, widened by the margin.
#[test]
fn real_sockets_have_the_goodput_of_the_simulator() {
    if !is_possible() {
        return;
    }
    let (program, mut machine) = (program(), Machine::watch());
    let paths = ["", ",loss=0.1%", ",loss=1%", ",loss=1%,burst=4"];
    let paths = paths.map(|losses| format!("rate=10Mbit/s,rtt=60ms,queue=50packets{losses}"));
    let paths: Vec<String> = paths.into_iter().chain(["lte".to_owned()]).collect();
    let real: Vec<_> = std::thread::scope(|scope| {
        let runs = paths.iter().map(|path| {
            let program = program.to_str().unwrap();
            scope.spawn(move || {
                let server = format!("exec {program} source 4433 {}", SECONDS + 4.0);
                let end = [path, "--format", "json", "--server", &server, "--", program, "destination"];
                emulate(&[&end[..], &["{server}:4433", &SECONDS.to_string()]].concat())
            })
        });
        let runs: Vec<_> = runs.collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for (path, output) in paths.iter().zip(&real) {
        machine.heed(&summary(output));
        let printed = String::from_utf8_lossy(&output.stdout);
        let real: f64 = printed.trim().parse().unwrap_or_else(|_| panic!("{path}: {output:?}"));
        let (duration, runs) = (format!("duration={SECONDS}s"), RUNS.to_string());
        let arguments = ["run", path, "--set", &duration, "--set", "flow.bulk.kind=quic", "--runs", &runs];
        let row = &objects(&stdout(&[&arguments[..], &["--format", "json"]].concat()))[0];
        let goodput = &row["goodput_kbps"];
        let mean = goodput["mean"].as_f64().unwrap();
        let high = goodput["ci95"][1].as_f64().unwrap_or(mean);
        let spread = (high - mean) / T[0] * RUNS.sqrt();
        let half = T[1] * spread * (1.0 + 1.0 / RUNS).sqrt() + MARGIN * mean;
        let figures = format!("{path}: {real} kbit/s over sockets, {mean} ± {half} simulated");
        machine.judge((real - mean).abs() <= half, &figures);
    }
}
