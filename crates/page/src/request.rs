//! Requests.

use serde::Deserialize;

/// A request, selected by `ask`.
///
/// A `line` is a scenario as on the command line: `lte,loss=1%,congestion=reno`, or the name of a file from the page.
#[derive(Deserialize, Debug)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Returns every mechanism with its parameters, the ready paths, and the metrics.
    Catalogue {},
    /// Stores a file that scenarios may name; an empty text removes it.
    File {
        /// Its name.
        name: String,
        /// Its contents.
        text: String,
    },
    /// Checks a scenario and returns its parts for drawing.
    Check {
        /// The scenario.
        line: String,
    },
    /// Returns the resolved scenario as TOML, with comments.
    Show {
        /// The scenario.
        line: String,
    },
    /// Starts a run, which replaces the current run.
    Begin(Begin),
    /// Advances the run.
    Advance {
        /// Most events to process, at least 1.
        events: usize,
    },
    /// Discards the current run.
    Cancel {},
    /// Discards all stored outcomes.
    Forget {},
    /// Draws the curves of the sampled runs since [`Request::Forget`].
    Charts {
        /// Time range, s; default: the whole runs.
        #[serde(default)]
        between_s: Option<[f64; 2]>,
    },
    /// Returns means of stored outcomes with intervals, also relative to the first variant.
    Intervals {},
    /// Returns the history of a segment, retransmissions included.
    Story {
        /// The scenario.
        line: String,
        /// Seed, a whole number below 2^64 in digits, because a page's numbers are less exact.
        seed: String,
        /// Offset of the segment's first byte in the stream.
        offset: u64,
    },
}

/// Options of a new run.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The scenario.
    pub line: String,
    /// Seed, as in [`Request::Story`].
    pub seed: String,
    /// Variant for which outcome ([`Request::Intervals`]) and samples ([`Request::Charts`]) are stored; default:
    /// neither.
    #[serde(default)]
    pub variant: Option<usize>,
    /// Whether to sample the probes.
    #[serde(default)]
    pub samples: bool,
    /// Segments of the first TCP flow to return.
    #[serde(default)]
    pub segments: Option<TimeWindow>,
    /// Passages of packets over links to return.
    #[serde(default)]
    pub hops: Option<TimeWindow>,
}

/// A part of a run: events that start in a time range.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(deny_unknown_fields)]
pub struct TimeWindow {
    /// Start, s.
    pub from_s: f64,
    /// End, s.
    pub to_s: f64,
    /// Most events.
    pub most: usize,
}
