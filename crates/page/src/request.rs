//! Requests that a page can send.

use serde::Deserialize;

/// Request of a page. The field `ask` selects the kind of the request.
///
/// The field `line` is a scenario as on the command line: `lte,loss=1%,congestion=reno`. `line` may also begin with the
/// name of a file that the page provides.
#[derive(Deserialize, Debug)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Requests every mechanism with its parameters, the ready paths, and the metrics.
    Catalogue {},
    /// Stores a file, which scenarios may name. An empty text removes the file.
    File {
        /// Name of the file.
        name: String,
        /// Contents of the file.
        text: String,
    },
    /// Checks a scenario, and requests the parts of the scenario that the page draws.
    Check {
        /// The scenario.
        line: String,
    },
    /// Requests the resolved scenario as TOML, with comments.
    Show {
        /// The scenario.
        line: String,
    },
    /// Starts a run. If another run is in progress, the new run replaces it.
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
    /// Requests charts of the runs that were sampled since the last [`Request::Forget`].
    Charts {
        /// Time range of the charts, s. The default is the whole duration of the runs.
        #[serde(default)]
        between_s: Option<[f64; 2]>,
    },
    /// Requests means of the stored outcomes with confidence intervals, and changes relative to the first variant.
    Intervals {},
    /// Requests the history of a segment, including retransmissions.
    Story {
        /// The scenario.
        line: String,
        /// Seed as text: a whole number below 2^64 in decimal digits. A number in JavaScript would not be exact.
        seed: String,
        /// Offset of the segment's first byte in the byte stream.
        offset: u64,
    },
}

/// Options of a new run.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The scenario.
    pub line: String,
    /// Seed, in the same form as in [`Request::Story`].
    pub seed: String,
    /// Number of the variant (from 0) for which the outcome ([`Request::Intervals`]) and the samples
    /// ([`Request::Charts`]) are stored. `None` stores neither.
    #[serde(default)]
    pub variant: Option<usize>,
    /// Whether flows and queues are sampled over time.
    #[serde(default)]
    pub samples: bool,
    /// If this field is set, the answer has the segments of the observed flow in this time window.
    #[serde(default)]
    pub segments: Option<TimeWindow>,
    /// If this field is set, the answer has the passages of packets over links in this time window.
    #[serde(default)]
    pub hops: Option<TimeWindow>,
}

/// Part of a run: a time range, and a limit of the number of events.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(deny_unknown_fields)]
pub struct TimeWindow {
    /// Start of the time range, s.
    pub from_s: f64,
    /// End of the time range, s.
    pub to_s: f64,
    /// Largest number of events to return.
    pub most: usize,
}
