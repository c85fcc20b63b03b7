//! Data of the crate `lasthop-lab`. Each paper has a folder next to this file, with its study, published numbers,
//! causes and scenarios.

macro_rules! papers {
    ($($paper:literal: $($file:literal)+;)+) => {
        /// Name of each paper, with the name and text of each of its files.
        pub const ALL: &[(&str, &[(&str, &str)])] = &[$(
            ($paper, &[$(($file, include_str!(concat!($paper, "/", $file)))),+]),
        )+];
    };
}

papers! {
    "hasegawa": "study.toml" "published.csv" "ns2.csv" "causes.toml" "deviations.toml" "chapter.md" "sack.toml" "mac.toml" "jtcp.toml" "rtt.toml" "fairness-2.toml" "fairness-10.toml" "fig2.toml";
    "huang": "study.toml" "published.csv" "ns2.csv" "causes.toml" "deviations.toml" "chapter.md" "wireless.toml" "wired.toml";
    "saad": "study.toml" "published.csv" "ns2.csv" "causes.toml" "deviations.toml" "chapter.md" "goodput.toml" "long.toml" "fairness.toml" "friendliness.toml";
    "miyoshi": "study.toml" "published.csv" "ns2.csv" "causes.toml" "deviations.toml" "chapter.md" "one-node.toml" "five-nodes.toml";
    "koga2": "study.toml" "published.csv" "causes.toml" "deviations.toml" "chapter.md" "path.toml";
    "koga3": "study.toml" "published.csv" "ns2.csv" "causes.toml" "deviations.toml" "chapter.md" "tcp-only.toml" "large-cbr.toml" "multiple-cbr.toml";
    "koga4": "study.toml" "published.csv" "causes.toml" "deviations.toml" "chapter.md" "ordered.toml";
    "koga5": "study.toml" "published.csv" "causes.toml" "deviations.toml" "chapter.md" "original.toml" "proposed.toml" "changing.toml";
    "rfc9438": "study.toml" "published.csv" "causes.toml" "deviations.toml" "chapter.md" "path.toml";
    "today": "study.toml" "causes.toml" "deviations.toml" "chapter.md" "acks.toml" "copies.toml" "tags.toml" "window.toml" "repeats.toml" "marks.toml" "classes.toml" "neighbour.toml";
    "related": "study.toml" "causes.toml" "deviations.toml" "chapter.md" "test.toml" "hasegawa.toml" "huang.toml" "koga.toml" "fading.toml" "neighbour.toml";
    "quic": "study.toml" "causes.toml" "deviations.toml" "chapter.md" "lossy.toml" "bits.toml" "bursts.toml" "rlc.toml" "deep.toml";
}

/// Scenario of koga §3.3.3. `lasthop bench` also runs this scenario.
pub const KOGA3_MULTIPLE_CBR: &str = include_str!("koga3/multiple-cbr.toml");

/// Scenario of koga §4.3. `lasthop bench` also runs this scenario.
pub const KOGA4_ORDERED: &str = include_str!("koga4/ordered.toml");
