//! Linux host of 2025 (6.x) with default sysctls. Sources: ip-sysctl, and measurements
//! (docs/development/validation/linux.md).
//!
//! # Not modelled
//! * `tcp_comp_sack_delay_ns`: Linux delays some SACKs by up to 1 ms; here all SACKs are sent at once.
//! * Segmentation offload: here the sender sends segments one by one.
//! * Quick ACKs that answer segments with PSH.
//! * `tcp_cwnd_application_limited`: Linux also reduces an unused cwnd while the application sends. Here cwnd decays
//!   only after an idle time.

use super::{Preset, Profile};

/// Linux host.
pub const PROFILE: Profile = Profile {
    name: "linux",
    summary: "Linux host: RACK-TLP, PRR, Linux CUBIC with HyStart, Linux RTO, quick ACKs, autotuned receive window",
    source: "Linux 6.x defaults (ip-sysctl, tcp(7)); docs/development/validation/linux.md",
    sender: &[
        ("recovery", "rack"),
        ("reduction", "prr"),
        ("congestion", "cubic"),
        ("ack_counting", "delivered"),
        ("initial_window", "10"),
        ("validate_window", "true"),
        ("validate_by", "linux"),
        ("f_rto", "true"),
        ("dsack_undo", "true"),
        ("eifel", "true"),
        ("undo", "linux"),
        ("loss_window", "in_flight"),
        ("sack_rtt", "true"),
        ("rto", "linux"),
        ("min_rto", "200 ms"),
        ("max_rto", "120 s"),
    ],
    receiver: &[("ack_policy", "linux"), ("window", "autotuned")],
    parameters: &[
        Preset { with: ("congestion", "cubic"), key: "variant", value: "linux" },
        Preset { with: ("congestion", "reno"), key: "halve", value: "cwnd" },
    ],
    // Linux's CUBIC includes HyStart; here `slow_start` is a key of its own.
    beside: &[Preset { with: ("congestion", "cubic"), key: "slow_start", value: "hystart" }],
};
