//! Formats the agent's status as tables.

use crate::table;
use lasthop_lab::document::{Cell, Table};
use serde_json::{Map, Value};

pub(super) fn text(object: &Value) -> String {
    let empty = Map::new();
    let fields = object.as_object().unwrap_or(&empty);
    let rows = fields.iter().filter(|(name, _)| *name != "flows");
    let counts = Table {
        caption: String::new(),
        columns: vec!["agent".into(), "".into()],
        rows: rows.map(|(name, value)| vec![Cell::Text(name.replace('_', " ")), cell(value)]).collect(),
    };
    let flows = object["flows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let columns = ["own", "peer", "acks", "window_bytes", "kernel_window_bytes", "min_rtt_ms"];
    let connections = Table {
        caption: String::new(),
        columns: columns.map(|name| name.replace('_', " ")).to_vec(),
        rows: flows.iter().map(|flow| columns.map(|name| cell(&flow[name])).to_vec()).collect(),
    };
    if flows.is_empty() {
        table::text(&counts)
    } else {
        format!("{}\n{}", table::text(&counts), table::text(&connections))
    }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Empty,
        Value::String(text) => Cell::Text(text.clone()),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(number) => Cell::Number(format!("{number:.1}")),
            None => Cell::Number(number.to_string()),
        },
        other => Cell::Text(other.to_string()),
    }
}
