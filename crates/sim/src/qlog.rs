//! All events of a run as qlog files (draft-ietf-quic-qlog-main-schema-13, JSON text sequences of RFC 7464): a file for
//! each flow, from the view of the network.
//!
//! An event is called `lasthop:KIND`, or `lasthop:EVENT` for events of endpoints. Its data are the other fields of a line
//! of a [trace](crate::trace). Times are milliseconds of virtual time. The log of a QUIC library from the view of an end
//! is another file ([`lasthop_stack::Stack::write_log`]).

use crate::trace::{EventFormat, EventWriter};
use lasthop_scenario::Scenario;
use lasthop_wire::FlowId;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// URI of the events' description.
const SCHEMA: &str = "urn:lasthop:qlog:events";

/// Observer that writes a qlog file for each flow. [`EventWriter::into_files`] reports errors of the writers.
pub type Qlog<W> = EventWriter<QlogFiles<W>>;

/// Format of a [`Qlog`].
pub struct QlogFiles<W>(Vec<W>);

impl<W: Write + Send + 'static> Qlog<W> {
    /// Returns a qlog of all flows of a scenario. `files` has a writer for each flow.
    ///
    /// # Errors
    /// Errors of the writers.
    pub fn new(scenario: &Scenario, mut files: Vec<W>) -> io::Result<Qlog<W>> {
        for (flow, file) in scenario.flows.iter().zip(&mut files) {
            let header = json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "application/qlog+json-seq",
                "title": scenario.title,
                "trace": {
                    "common_fields": {
                        "group_id": flow.name,
                        "time_format": "relative_to_epoch",
                        "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                    },
                    "vantage_point": { "name": "lasthop", "type": "network" },
                    "event_schemas": [SCHEMA],
                },
            });
            write_record(file, &header)?;
        }
        Ok(EventWriter::in_format(scenario, QlogFiles(files)))
    }

    /// Flushes and returns the writers.
    ///
    /// # Errors
    /// The first error of a writer during the run.
    pub fn into_files(self) -> io::Result<Vec<W>> {
        let QlogFiles(mut files) = self.finish_format()?;
        files.iter_mut().try_for_each(Write::flush)?;
        Ok(files)
    }
}

impl<W: Write + Send + 'static> EventFormat for QlogFiles<W> {
    fn write(&mut self, flow: FlowId, fields: Map<String, Value>) -> io::Result<()> {
        let text = |field: &str| fields.get(field).and_then(Value::as_str);
        let name = format!("lasthop:{}", text("event").or_else(|| text("kind")).unwrap_or("unknown"));
        let seconds = fields.get("time_s").and_then(Value::as_f64).unwrap_or(0.0);
        let of_record = ["time_s", "flow", "kind", "event"];
        let data: Map<String, Value> =
            fields.into_iter().filter(|(field, _)| !of_record.contains(&field.as_str())).collect();
        let record = json!({ "time": (seconds * 1e9).round() / 1e6, "name": name, "data": data });
        write_record(&mut self.0[flow.0 as usize], &record)
    }
}

/// Writes a record of a JSON text sequence (RFC 7464 §2.2).
fn write_record(file: &mut impl Write, record: &Value) -> io::Result<()> {
    writeln!(file, "\u{1e}{record}")
}
