//! The requests that a page can make.

use serde::Deserialize;

/// A request. Its field `ask` selects the kind.
///
/// The field `line` is a scenario as on the command line: `lte,loss=1%,congestion=reno`, or the name of a file from the
/// page.
#[derive(Deserialize, Debug)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Returns every mechanism with its parameters, the ready paths, and the metrics.
    Catalogue {},
    /// Stores a file that scenarios may name. An empty text removes the file.
    File {
        /// Name of the file.
        name: String,
        /// Contents of the file.
        text: String,
    },
    /// Checks a scenario and returns the parts to draw.
    Check {
        /// The scenario.
        line: String,
    },
    /// Returns the resolved scenario as TOML, with comments.
    Show {
        /// The scenario.
        line: String,
    },
    /// Starts a run. It replaces the current run, if any.
    Begin(Begin),
    /// Continues the current run.
    Advance {
        /// Largest number of events to process, at least 1.
        events: usize,
    },
    /// Discards the current run.
    Cancel {},
    /// Discards all stored outcomes.
    Forget {},
    /// Draws curves of the runs that were sampled since the last [`Request::Forget`].
    Charts {
        /// Time range to draw, s; by default the whole runs.
        #[serde(default)]
        between_s: Option<[f64; 2]>,
    },
    /// Returns means of the stored outcomes with confidence intervals, and changes relative to the first variant.
    Intervals {},
    /// Returns the history of a segment, retransmissions included.
    Story {
        /// The scenario.
        line: String,
        /// Seed as text: a whole number below 2^64 in digits. A number in JavaScript would not be exact.
        seed: String,
        /// Offset in the stream of the segment's first byte.
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
    /// Variant under which the outcome ([`Request::Intervals`]) and the samples ([`Request::Charts`]) are stored. The
    /// default stores neither.
    #[serde(default)]
    pub variant: Option<usize>,
    /// Whether to sample the probes.
    #[serde(default)]
    pub samples: bool,
    /// If set, the answer has the segments of the first TCP flow in this time window.
    #[serde(default)]
    pub segments: Option<TimeWindow>,
    /// If set, the answer has the passages of packets over links in this time window.
    #[serde(default)]
    pub hops: Option<TimeWindow>,
}

/// A part of a run: all events that start in a time range.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(deny_unknown_fields)]
pub struct TimeWindow {
    /// Start, s.
    pub from_s: f64,
    /// End, s.
    pub to_s: f64,
    /// Largest number of events to return.
    pub most: usize,
}
