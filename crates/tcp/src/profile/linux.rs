//! A Linux host of 2025 (6.x) with the defaults of its sysctls (ip-sysctl), as far as its behaviour is known and measured
//! (docs/validation.md).
//!
//! # What is not modelled
//! ACKs that report what came out of order leave at once; Linux holds some back for up to a millisecond
//! (`tcp_comp_sack_delay_ns`). Segments leave one by one, not in trains of a segmentation offload. ACKs of pushed segments
//! are not hurried. A cwnd that was not used for a timeout stays until the connection is idle
//! (`tcp_cwnd_application_limited`).

use super::{Preset, Profile};

/// See the file.
pub const PROFILE: Profile = Profile {
    name: "linux",
    summary: "a Linux host: RACK-TLP, PRR, its CUBIC with HyStart, its timeout, quick ACKs, a window that grows",
    source: "Linux 6.x with its defaults (ip-sysctl, tcp(7)); docs/validation.md",
    sender: &[
        ("recovery", "rack"),
        ("reduction", "prr"),
        ("congestion", "cubic"),
        ("counting", "delivered"),
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
    receiver: &[("timing", "linux"), ("window", "autotuned")],
    parameters: &[
        Preset { with: ("congestion", "cubic"), key: "variant", value: "linux" },
        Preset { with: ("congestion", "reno"), key: "halve", value: "cwnd" },
    ],
    // In Linux HyStart is a part of CUBIC.
    beside: &[Preset { with: ("congestion", "cubic"), key: "slow_start", value: "hystart" }],
};
