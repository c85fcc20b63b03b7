//! The papers' files, within the program.

macro_rules! papers {
    ($($paper:literal: $($file:literal)+;)+) => {
        /// By paper: its files with their texts.
        pub(super) const ALL: &[(&str, &[(&str, &str)])] = &[$(
            ($paper, &[$(($file, include_str!(concat!("../../../../papers/", $paper, "/", $file)))),+]),
        )+];
    };
}

papers! {
    "huang": "study.toml" "published.csv" "deviations.toml" "chapter.md" "wireless.toml" "wired.toml";
}
