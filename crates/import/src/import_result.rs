//! Results of an import, and the scenario that contains these results.

use crate::ImportOptions;
use std::fmt::Write as _;

/// A value with its provenance: measured, derived, given or assumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Provenance: a phrase that begins with `measured`, `derived`, `given` or `assumed`.
    pub provenance: String,
}

impl<T> Sourced<T> {
    pub(crate) fn new(value: T, provenance: impl Into<String>) -> Sourced<T> {
        Sourced { value, provenance: provenance.into() }
    }
}

/// Rate over time of one direction of the path.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// A constant rate, bit/s.
    Rate(f64),
    /// A Mahimahi trace, whose file is already written. Each delivery opportunity carries 1500 bytes.
    Trace {
        /// Number of delivery opportunities in the trace.
        opportunities: u64,
        /// Length of the trace, ms. The trace repeats after this time.
        millis: u64,
    },
}

impl Service {
    /// Mean rate of the service, bit/s.
    pub fn mean(&self) -> f64 {
        match self {
            Service::Rate(rate) => *rate,
            Service::Trace { opportunities, millis } => {
                *opportunities as f64 * 12_000.0 / (*millis).max(1) as f64 * 1000.0
            }
        }
    }
}

/// A light trace of CellReplay: base delays and packet trains.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// Text of the light trace.
    pub text: String,
    /// Text of the optional file of delays by packet size.
    pub sizes: Option<String>,
}

/// The results of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportResult {
    /// Kind of the recording, as text: `a table of rates`.
    pub kind: String,
    /// Rate of the downlink over time.
    pub down: Option<Sourced<Service>>,
    /// Rate of the uplink over time.
    pub up: Option<Sourced<Service>>,
    /// Light traces of the downlink and of the uplink. The files of a light trace are named after the heavy trace, with
    /// `.light` and `.sizes` appended.
    pub light_traces: [Option<Light>; 2],
    /// Round-trip time without queueing, ms.
    pub rtt_ms: Option<Sourced<f64>>,
    /// Queue of the downlink, in the syntax of a scenario.
    pub queue: Option<Sourced<String>>,
    /// Channel of the downlink, in the syntax of a scenario.
    pub channel: Option<Sourced<String>>,
    /// MSS, bytes.
    pub segment: Option<Sourced<u32>>,
    /// Length of the recording, s.
    pub seconds: f64,
    /// Sentences for the report: further results, and notes on omitted or unknown values.
    pub findings: Vec<String>,
    /// A table that shows how well the loss models fit. Each element is a line of columns of equal width.
    pub fit: Vec<String>,
}

const DEFAULT_RATE: &str = "10 Mbit/s";
const DEFAULT_RTT_MS: f64 = 50.0;
/// Shortest duration of a run in the written scenario, s.
const SHORTEST: f64 = 30.0;
/// Longest duration of a run in the written scenario, s.
const LONGEST: f64 = 600.0;

impl ImportResult {
    /// Returns the text of a scenario with one link `path` from `server` to `client` and one flow `bulk`. `source` is
    /// the name of the recording. `traces` has the file names of the downlink's trace and the uplink's trace.
    pub fn scenario(&self, options: &ImportOptions, source: &str, traces: [&str; 2]) -> String {
        let source = plain(source);
        let mut text = format!("# Generated from `{source}` ({}) by `lasthop import`.\n", self.kind);
        text.push_str(
            "# The comment of each value says whether it was measured, derived, given, or assumed.\n#\n",
        );
        for line in &self.findings {
            let _ = writeln!(text, "# * {}", plain(line));
        }
        if !self.fit.is_empty() {
            text.push_str("#\n");
            for line in &self.fit {
                let _ = writeln!(text, "#   {}", plain(line).trim_end());
            }
        }
        let _ = writeln!(text, "\ntitle = {}", quoted(&format!("the path of {source}")));
        let _ = writeln!(text, "source = {}", quoted(&format!("{source}: {}", self.kind)));
        let duration = self.seconds.clamp(SHORTEST, LONGEST);
        let _ = writeln!(text, "# The recording's length, limited to between {SHORTEST} s and {LONGEST} s.");
        let _ = writeln!(text, "duration = \"{} s\"", duration.ceil());
        let (rtt, queue) = (self.rtt(options), self.queue_limit(options));
        text.push_str("\n[link.path]\nfrom = \"server\"\nto = \"client\"\n");
        let _ = writeln!(
            text,
            "# Half of the round trip without queueing, {} ms. {}.",
            shown(rtt.value),
            plain(&rtt.provenance)
        );
        let _ = writeln!(text, "one_way_delay = \"{} ms\"", shown(rtt.value / 2.0));
        text.push_str("\n[link.path.down]\n");
        let down = self.service(self.down.as_ref(), options.assumed.rate.as_deref(), "the rate", || {
            (DEFAULT_RATE.to_owned(), format!("assumed, {DEFAULT_RATE}: the recording has no rate"))
        });
        write_service(&mut text, &down, traces[0], self.light_traces[0].as_ref());
        let _ = writeln!(text, "# {}.\nqueue = {}", sentence(&queue.provenance), quoted(&queue.value));
        if let Some(channel) = &self.channel {
            let _ = writeln!(text, "# {}.\nchannel = {}", sentence(&channel.provenance), channel.value);
        }
        text.push_str("\n[link.path.up]\n");
        let mean = match &down.value {
            ServiceValue::Imported(service) => format!("{} kbit/s", shown(service.mean() / 1000.0)),
            ServiceValue::Text(rate) => rate.clone(),
        };
        let up = self.service(self.up.as_ref(), options.assumed.up.as_deref(), "the rate up", || {
            (mean, "assumed: the mean rate down".to_owned())
        });
        write_service(&mut text, &up, traces[1], self.light_traces[1].as_ref());
        text.push_str("# Assumed: the queue drops no acknowledgements.\nqueue = \"unlimited\"\n");
        text.push_str(
            "\n[flow.bulk]\nfrom = \"server\"\nto = \"client\"\n\
             # Assumed: both hosts run Linux.\nprofile = \"linux\"\n",
        );
        if let Some(segment) = &self.segment {
            let _ =
                writeln!(text, "# {}.\nsegment = \"{} bytes\"", sentence(&segment.provenance), segment.value);
        }
        text
    }

    fn rtt(&self, options: &ImportOptions) -> Sourced<f64> {
        match (&self.rtt_ms, options.assumed.rtt) {
            (Some(rtt), _) => Sourced::new(rtt.value, sentence(&rtt.provenance)),
            (None, Some(rtt)) => Sourced::new(rtt.as_secs() * 1000.0, "Given"),
            (None, None) => Sourced::new(DEFAULT_RTT_MS, "Assumed: the recording has no round-trip time"),
        }
    }

    fn queue_limit(&self, options: &ImportOptions) -> Sourced<String> {
        match (&self.queue, &options.assumed.queue) {
            (Some(queue), _) => queue.clone(),
            (None, Some(queue)) => Sourced::new(queue.clone(), "given"),
            (None, None) => {
                Sourced::new("1 bdp".to_owned(), "assumed: the recording does not give the queue's size")
            }
        }
    }

    fn service(
        &self,
        known: Option<&Sourced<Service>>,
        given: Option<&str>,
        what: &str,
        otherwise: impl FnOnce() -> (String, String),
    ) -> Sourced<ServiceValue> {
        match (known, given) {
            (Some(sourced), _) => {
                Sourced::new(ServiceValue::Imported(sourced.value.clone()), sourced.provenance.clone())
            }
            (None, Some(rate)) => Sourced::new(ServiceValue::Text(rate.to_owned()), format!("given: {what}")),
            (None, None) => {
                let (rate, provenance) = otherwise();
                Sourced::new(ServiceValue::Text(rate), provenance)
            }
        }
    }
}

enum ServiceValue {
    Imported(Service),
    Text(String),
}

fn write_service(text: &mut String, sourced: &Sourced<ServiceValue>, trace: &str, light: Option<&Light>) {
    let _ = writeln!(text, "# {}.", sentence(&sourced.provenance));
    let _ = match &sourced.value {
        ServiceValue::Imported(Service::Rate(rate)) => {
            writeln!(text, "rate = \"{} kbit/s\"", shown(rate / 1000.0))
        }
        ServiceValue::Imported(Service::Trace { .. }) => writeln!(text, "trace = {}", quoted(trace)),
        ServiceValue::Text(rate) => writeln!(text, "rate = {}", quoted(rate)),
    };
    if let Some(light) = light {
        let _ = writeln!(
            text,
            "# Measured under light load: base delays and packet trains.\nlight = {}",
            quoted(&format!("{trace}.light"))
        );
        if light.sizes.is_some() {
            let _ = writeln!(
                text,
                "# Measured: delays by size.\nlight_sizes = {}",
                quoted(&format!("{trace}.sizes"))
            );
        }
    }
}

/// Formats a value with five significant digits.
pub(crate) fn shown(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let digits = (4 - libm::floor(libm::log10(value.abs())) as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn sentence(text: &str) -> String {
    let text = plain(text);
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// Replaces control characters, so that the text is safe in comments and on terminals.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Largest number of characters that a message quotes from the input.
const MAX_SHOWN: usize = 80;

/// Replaces control characters as [`plain`] does, and cuts the text after [`MAX_SHOWN`] characters.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown: String = plain(text).chars().take(MAX_SHOWN).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In TOML 1.0, control characters in basic strings must be escaped.
    #[test]
    fn names_are_escaped() {
        let text = format!("name = {}", quoted("a\n\"b\"\\\u{7f}"));
        assert_eq!(text, "name = \"a\\u000A\\\"b\\\"\\\\\\u007F\"");
    }

    #[test]
    fn five_digits_count() {
        for (value, text) in
            [(12_345.678, "12346"), (1.0, "1"), (0.012_345_678, "0.012346"), (10_000_000.0, "10000000")]
        {
            assert_eq!(shown(value), text);
        }
    }
}
