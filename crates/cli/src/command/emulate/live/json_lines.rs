//! Writes observations of the path as JSON lines, one object per observation.

use super::view::{DirectionView, View};
use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use lasthop_emu::emulation::End;
use serde_json::{Value, json};
use std::path::Path;

pub(super) struct JsonLines {
    /// Destination of the lines; `None` after a write error.
    file: Option<Target>,
}

impl JsonLines {
    pub(super) fn begin(path: &Path) -> Result<JsonLines, Failure> {
        Ok(JsonLines { file: Some(Target::growing(path)?) })
    }

    /// Writes an observation as one line. After the first write error, prints a note and writes no further lines.
    pub(super) fn write(&mut self, view: &View) {
        let Some(file) = &mut self.file else { return };
        if let Err(failure) = file.append(&format!("{}\n", object(view))) {
            output::note(&format!("note: {}; the run continues without these lines", failure.message()));
            self.file = None;
        }
    }
}

pub(super) fn object(view: &View) -> Value {
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    let direction = |end: End| {
        let DirectionView { kbps, delivered, lost, packets, bytes, wait_ms, rtt_ms } =
            view.directions[end as usize];
        let lost: Value =
            lost.iter().map(|(reason, count)| (reason.name().to_owned(), json!(count))).collect();
        json!({
            "rate_kbps": rounded(kbps),
            "packets": delivered,
            "queue_packets": packets,
            "queue_bytes": bytes,
            "queue_ms": wait_ms.map(rounded),
            "lost": lost,
            "rtt_ms": rtt_ms.map(rounded),
        })
    };
    json!({
        "time_s": rounded(view.time),
        "interval_s": rounded(view.span),
        "down": direction(End::Client),
        "up": direction(End::Server),
        "late_p99_us": view.late.map(|[p99, _]| p99),
        "late_max_us": view.late.map(|[_, max]| max),
        "links": view.current["links"],
    })
}
