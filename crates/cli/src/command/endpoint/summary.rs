//! Formats the results of each connection as a table, as JSON or as CSV.

use super::job::ClosedConnection;
use crate::output::Format;
use crate::table;
use lasthop_lab::document::{Cell, Table};
use lasthop_tcp::endpoint::Feedback;
use serde_json::{Map, Value, json};

const COLUMNS: [&str; 9] = [
    "peer",
    "sent_bytes",
    "received_bytes",
    "took_s",
    "goodput_mbps",
    "data_segs_out",
    "retrans",
    "timeouts",
    "srtt_ms",
];

pub(crate) fn text(connections: &[ClosedConnection], format: Format) -> String {
    match format {
        Format::Table => {
            let rows = connections.iter().map(|connection| {
                let cell = |(place, value): (usize, Value)| match value {
                    Value::Null => Cell::Empty,
                    Value::String(text) => Cell::Text(text),
                    // `took_s` has three decimal places; other fractions have two.
                    Value::Number(number) if place == 3 => {
                        Cell::Number(format!("{:.3}", number.as_f64().unwrap_or(0.0)))
                    }
                    Value::Number(number) if number.is_f64() => {
                        Cell::Number(format!("{:.2}", number.as_f64().unwrap_or(0.0)))
                    }
                    other => Cell::Number(other.to_string()),
                };
                values(connection).into_iter().enumerate().map(cell).collect()
            });
            let table = Table {
                caption: String::new(),
                columns: COLUMNS.map(str::to_owned).to_vec(),
                rows: rows.collect(),
            };
            let ended = connections.iter().filter_map(|connection| {
                connection.error.as_ref().map(|error| format!("{}: {}\n", connection.peer, error.message))
            });
            table::text(&table) + &ended.collect::<String>()
        }
        Format::Json => connections.iter().map(|connection| format!("{}\n", object(connection))).collect(),
        Format::Csv => {
            let row = |connection| {
                let cells = values(connection).into_iter().map(|value| match value {
                    Value::Null => String::new(),
                    Value::String(text) => text,
                    other => other.to_string(),
                });
                cells.collect::<Vec<_>>().join(",") + "\n"
            };
            COLUMNS.join(",") + "\n" + &connections.iter().map(row).collect::<String>()
        }
    }
}

fn values(connection: &ClosedConnection) -> [Value; COLUMNS.len()] {
    let secs = connection.took.as_secs();
    let bits = (connection.sent + connection.received) as f64 * 8.0;
    let info = connection.info.as_ref();
    [
        json!(connection.peer),
        json!(connection.sent),
        json!(connection.received),
        json!(secs),
        if secs > 0.0 { json!(bits / secs / 1e6) } else { Value::Null },
        json!(info.map(|info| info.data_segs_out)),
        json!(info.map(|info| info.total_retrans)),
        json!(info.map(|info| info.timeouts)),
        json!(info.and_then(|info| info.srtt).map(|srtt| srtt.as_millis())),
    ]
}

fn object(connection: &ClosedConnection) -> Value {
    let mut object: Map<String, Value> =
        COLUMNS.iter().map(|name| (*name).to_owned()).zip(values(connection)).collect();
    if let Some(info) = &connection.info {
        object.insert("state".into(), json!(format!("{:?}", info.state)));
        object.insert("cwnd_bytes".into(), json!(info.cwnd_bytes));
        object.insert("ssthresh_bytes".into(), json!(info.ssthresh_bytes));
        object.insert("rto_ms".into(), json!(info.rto.as_millis()));
        object.insert("snd_mss_bytes".into(), json!(info.snd_mss));
        object.insert("sack".into(), json!(info.options.sack));
        object.insert("timestamps".into(), json!(info.options.timestamps));
        object.insert("ecn".into(), json!(info.options.ecn != Feedback::None));
    }
    object.insert("error".into(), json!(connection.error.as_ref().map(|error| &error.message)));
    Value::Object(object)
}
