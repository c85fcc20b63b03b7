//! What the paper leaves open, and the values other than the default (spec: "What the paper leaves open").

use super::setting::{Changes, Setting};

const WINDOW: &str = "flow.file.receiver.window.size";
const MEETS: &str = "link.wireless.down.channel.meets";
const JUDGE_COUNT: &str = "flow.file.sender.judge.per_window";
const AFTER_LOSS: &str = "flow.file.sender.judge.after_loss";

/// Every other answer on the wireless links.
pub(super) fn wireless() -> Vec<Setting> {
    all(WIRELESS)
}

/// Every other answer on the wires.
pub(super) fn wired() -> Vec<Setting> {
    all(WIRED)
}

fn all(answers: &'static [(&'static str, &'static str, Changes, Changes)]) -> Vec<Setting> {
    let setting = |(question, answer, changes, tagged): &(&'static str, &'static str, Changes, Changes)| {
        Setting { question, answer, changes, tagged }
    };
    answers.iter().map(setting).collect()
}

/// Question, answer, what changes, what changes for a sender that tags.
const WIRELESS: &[(&str, &str, Changes, Changes)] = &[
    ("lost to the bad state", "any overlap", &[(MEETS, "overlap")], &[]),
    ("lost to the bad state", "the state at the end", &[(MEETS, "end")], &[]),
    ("lost to the bad state", "the chain runs only while packets are sent", &[(MEETS, "sent")], &[]),
    ("window limit", "64 segments", &[(WINDOW, "64000 bytes")], &[]),
    ("window limit", "none", &[(WINDOW, "4000000 bytes")], &[]),
    ("bad state and window", "any overlap, 64 segments", &[(MEETS, "overlap"), (WINDOW, "64000 bytes")], &[]),
    ("bad state and window", "any overlap, no limit", &[(MEETS, "overlap"), (WINDOW, "4000000 bytes")], &[]),
    (
        "bad state and window",
        "only while packets are sent, no limit",
        &[(MEETS, "sent"), (WINDOW, "4000000 bytes")],
        &[],
    ),
    ("smallest RTO", "1 s", &[("flow.file.sender.min_rto", "1 s")], &[]),
    ("delayed ACKs", "on", &[("flow.file.receiver.timing", "delayed")], &[]),
    (
        "queue length",
        "20 packets, no window limit",
        &[
            ("link.wireless.down.queue.packets", "20"),
            ("link.wired.queue.packets", "20"),
            (WINDOW, "4000000 bytes"),
        ],
        &[],
    ),
    ("initial ssthresh", "20 segments", &[("flow.file.sender.initial_ssthresh", "20000 bytes")], &[]),
    ("initial window", "1 segment", &[("flow.file.sender.initial_window", "1")], &[]),
    (
        "tag declared lost",
        "any sent again in this recovery",
        &[],
        &[("flow.file.sender.judge.counts", "any")],
    ),
    ("tags per window", "2", &[], &[(JUDGE_COUNT, "2")]),
    ("tags per window", "4", &[], &[(JUDGE_COUNT, "4")]),
    ("tagged after a lost tag", "once recovery is over", &[], &[(AFTER_LOSS, "recovery")]),
    ("tagged after a lost tag", "its retransmission", &[], &[(AFTER_LOSS, "retransmission")]),
    ("restored", "window and ssthresh", &[], &[("flow.file.sender.judge.restores", "window_and_ssthresh")]),
    (
        "tags in the bad state",
        "shielded from all errors",
        &[],
        &[("link.wireless.down.channel.shields_tags", "true")],
    ),
    (
        "errors on the reverse link",
        "a chain of their own, bad for 1 ms",
        &[
            ("link.wireless.up.channel", "two_state"),
            ("link.wireless.up.channel.clock", "time"),
            ("link.wireless.up.channel.meets", "step"),
            ("link.wireless.up.channel.step", "4.16 ms"),
            ("link.wireless.up.channel.bad", "1 ms"),
        ],
        &[],
    ),
    (
        "segment on the wire",
        "1000 bytes in all, ACKs of none",
        &[("headers", "none"), ("link.wireless.down.channel.step", "4 ms")],
        &[],
    ),
];

const WIRED: &[(&str, &str, Changes, Changes)] = &[
    ("window limit", "64 segments", &[(WINDOW, "64000 bytes")], &[]),
    ("window limit", "none", &[(WINDOW, "4000000 bytes")], &[]),
    ("window and queue", "20 segments, 10 packets", &[("link.first.queue.packets", "10")], &[]),
    (
        "window and queue",
        "64 segments, 20 packets",
        &[(WINDOW, "64000 bytes"), ("link.first.queue.packets", "20")],
        &[],
    ),
    (
        "window and queue",
        "no limit, 20 packets",
        &[(WINDOW, "4000000 bytes"), ("link.first.queue.packets", "20")],
        &[],
    ),
    (
        "window and queue",
        "no limit, 100 packets",
        &[(WINDOW, "4000000 bytes"), ("link.first.queue.packets", "100")],
        &[],
    ),
    (
        "tag declared lost",
        "any sent again in this recovery, no window limit",
        &[(WINDOW, "4000000 bytes")],
        &[("flow.file.sender.judge.counts", "any")],
    ),
    ("tags per window", "2, no window limit", &[(WINDOW, "4000000 bytes")], &[(JUDGE_COUNT, "2")]),
    (
        "tagged after a lost tag",
        "once recovery is over, no window limit",
        &[(WINDOW, "4000000 bytes")],
        &[(AFTER_LOSS, "recovery")],
    ),
    (
        "initial ssthresh",
        "20 segments, no window limit",
        &[(WINDOW, "4000000 bytes"), ("flow.file.sender.initial_ssthresh", "20000 bytes")],
        &[],
    ),
    (
        "smallest RTO",
        "1 s, no window limit",
        &[(WINDOW, "4000000 bytes"), ("flow.file.sender.min_rto", "1 s")],
        &[],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::huang::setting::{Link, Method};

    #[test]
    fn every_answer_is_a_valid_scenario_for_every_method() {
        for method in Method::ALL {
            for setting in std::iter::once(Setting::default()).chain(wireless()) {
                for link in Link::ALL {
                    assert!(setting.wireless(method, link, 10).is_ok(), "{}", setting.label());
                }
            }
            for setting in std::iter::once(Setting::default()).chain(wired()) {
                assert!(setting.wired(method, 90).is_ok(), "{}", setting.label());
            }
        }
    }
}
