//! A window of the path's size empties a deep buffer under unmodified senders and receivers.

use crate::transfer::{Measured, Transfer};
use crate::{Agent, alone, can_run, deep_path};
use std::thread;
use std::time::Duration;

/// A transfer of one congestion control, after it has found its pace; `None` if that cannot be had here.
fn measured(congestion: &str, agent: Option<&[&str]>) -> Option<Measured> {
    let path = deep_path()?;
    let agent = agent.map(|arguments| Agent::start(&path, arguments));
    let transfer = Transfer::begin(&path, congestion, 5001)?;
    thread::sleep(Duration::from_secs(5));
    let measured = transfer.measure(&path, 8.0);
    if let Some(agent) = agent {
        let status = agent.status();
        assert!(status["acks_rewritten"].as_u64() > Some(1000) && status["errors"] == 0, "{status:?}");
    }
    Some(measured)
}

#[test]
fn the_dynamic_window_empties_a_deep_buffer() {
    if !can_run() {
        return;
    }
    let _alone = alone();
    for congestion in ["cubic", "reno", "bbr"] {
        let Some(plain) = measured(congestion, None) else {
            println!("skipped: the kernel has no {congestion}");
            continue;
        };
        let cured = measured(congestion, Some(&["--window", "dynamic"])).expect("as just before");
        println!("{congestion}: {plain:?} without, {cured:?} with the agent");
        // 1448 of 1500 bytes are payload: 9.65 Mbit/s. A machine that is busy elsewhere costs both alike.
        assert!(cured.goodput >= 0.98 * plain.goodput, "{congestion}: {cured:?} {plain:?}");
        // Two bandwidth-delay products: 40 ms.
        assert!(cured.srtt < 60.0, "{congestion}: {cured:?}");
        if congestion != "bbr" {
            // 500 packets of 1500 bytes take 600 ms; a sawtooth lies between its half and that.
            assert!(plain.srtt > 200.0, "{congestion}: {plain:?}");
        }
    }
}
