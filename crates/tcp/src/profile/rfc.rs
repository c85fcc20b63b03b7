//! Host with exactly the mechanisms that today's RFCs recommend.

use super::Profile;

pub(super) const PROFILE: Profile = Profile {
    name: "rfc",
    summary: "today's RFCs: RACK-TLP, PRR, CUBIC with HyStart++, smallest RTO 1 s",
    source: "RFC 8985, RFC 9937, RFC 9438, RFC 9406, RFC 5682, RFC 6298, RFC 6928, RFC 7661, RFC 5681",
    sender: &[
        ("recovery", "rack"),
        ("reduction", "prr"),
        ("slow_start", "hystart_pp"),
        ("congestion", "cubic"),
        ("ack_counting", "bytes"),
        ("initial_window", "10"),
        ("validate_window", "true"),
        ("f_rto", "true"),
        ("rto", "rfc6298"),
        ("min_rto", "1 s"),
    ],
    receiver: &[("ack_policy", "delayed"), ("window", "buffer")],
    parameters: &[],
    beside: &[],
};
