//! What can be asked.

use serde::Deserialize;

/// A request, by its `ask`.
///
/// A `line` is a scenario as the command line takes it: `lte,loss=1%,congestion=reno`, or the name of a file that the
/// page gave.
#[derive(Deserialize, Debug)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Every mechanism with its parameters, the ready paths, and what the numbers are.
    Catalogue {},
    /// A file that scenarios may name; an empty text takes it away.
    File {
        /// Its name.
        name: String,
        /// What is in it.
        text: String,
    },
    /// Whether a scenario is right, and what it is made of, to be drawn.
    Check {
        /// The scenario.
        line: String,
    },
    /// The resolved scenario as TOML, with comments.
    Show {
        /// The scenario.
        line: String,
    },
    /// Begins a run in the place of the one under way.
    Begin(Begin),
    /// Carries the run by at most so many events.
    Advance {
        /// How many, at least 1.
        events: usize,
    },
    /// Drops the run under way.
    Cancel {},
    /// Drops all outcomes that were kept.
    Forget {},
    /// The curves of the runs that were sampled for a variant since [`Request::Forget`], drawn.
    Charts {
        /// From this time to that, s; the whole runs without it.
        #[serde(default)]
        between_s: Option<[f64; 2]>,
    },
    /// Means of the outcomes kept, with their intervals, and against those of the first variant.
    Intervals {},
    /// What became of a segment, each time that it was sent.
    Story {
        /// The scenario.
        line: String,
        /// Its seed, a whole number below 2^64 in digits: numbers of a page are not that exact.
        seed: String,
        /// The offset of the segment's first byte in its stream.
        offset: u64,
    },
}

/// How a run is begun.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The scenario.
    pub line: String,
    /// The seed, as in [`Request::Story`].
    pub seed: String,
    /// Which variant its outcome is kept for, for [`Request::Intervals`], and its samples for [`Request::Charts`]; without
    /// it, none.
    #[serde(default)]
    pub variant: Option<usize>,
    /// Whether to sample the probes.
    #[serde(default)]
    pub samples: bool,
    /// Which segments of the first TCP flow to give back.
    #[serde(default)]
    pub segments: Option<Window>,
    /// Which passages of packets over links to give back.
    #[serde(default)]
    pub hops: Option<Window>,
}

/// A part of a run: what sets out from one time to another, and not more than so much of it.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// From here, s.
    pub from_s: f64,
    /// To here, s.
    pub to_s: f64,
    /// At most so many.
    pub most: usize,
}
