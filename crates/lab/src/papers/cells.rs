//! Formatting of the numbers of items for table cells.

use crate::document::Cell;
use crate::item::Item;
use crate::runs::number::with_interval;
use crate::stats::Estimate;
use crate::study::selector::SelectableRow;
use serde_json::Value;

/// Formats the measured number as mean ± half of its 95 % interval. An asymmetric interval is printed with both ends.
/// Without an interval, the cell has only the number.
pub(crate) fn measured(item: &Item) -> Cell {
    match (item.measured, item.ci95) {
        (Some(mean), Some([low, high])) if item.is_skewed() => {
            let half = (high - low) / 2.0;
            let decimals = (1.0 - libm::floor(libm::log10(half))).clamp(0.0, 9.0) as usize;
            Cell::Number(if mean.abs() < 1e-3 && mean != 0.0 {
                format!("{} ({} to {})", number(mean), number(low), number(high))
            } else {
                format!("{mean:.decimals$} ({low:.decimals$} to {high:.decimals$})")
            })
        }
        (Some(mean), Some(_)) if mean.abs() >= 1e-3 => {
            Cell::Number(with_interval(&Estimate { mean, ci95: item.ci95, runs: item.runs }))
        }
        (Some(mean), Some([low, high])) => {
            Cell::Number(format!("{} ± {}", number(mean), number((high - low) / 2.0)))
        }
        (Some(mean), _) => Cell::Number(number(mean)),
        (None, _) => Cell::Empty,
    }
}

/// Formats a number with three significant digits. Numbers of 1000 and more keep all integer digits. Numbers below
/// 0.001 get a power of ten: 4.5e-5.
pub(crate) fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    match rounded.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{rounded:.1}"),
        v if v >= 1.0 => format!("{rounded:.2}"),
        v if v >= 0.1 => format!("{rounded:.3}"),
        v if v >= 0.01 => format!("{rounded:.4}"),
        v if v >= 0.001 => format!("{rounded:.5}"),
        0.0 => "0".into(),
        _ => format!("{rounded:e}"),
    }
}

/// Returns the name of a row as readable text: `Table 3.5, Reno, load TCP only: total throughput`.
pub(crate) fn words(item: &Item) -> String {
    let [name, ..] = item.names();
    let parts = [heading(name), item.series.clone(), place(item)];
    let named: Vec<String> = parts.into_iter().filter(|part| !part.is_empty() && part != "claim").collect();
    let named = named.join(", ");
    match item.margin {
        Some(_) if !item.metric.is_empty() => format!("{named}: {}", item.metric),
        _ => named,
    }
}

/// Returns the name of an item as readable text: `Table 3.5` for `table3.5`, `gain mac` for `gain-mac`.
fn heading(name: &str) -> String {
    for (short, long) in [("table", "Table"), ("fig", "Fig."), ("eq", "Eq.")] {
        if let Some(number) = name.strip_prefix(short)
            && number.starts_with(|first: char| first.is_ascii_digit())
        {
            return format!("{long} {number}");
        }
    }
    match name.strip_prefix("claim-") {
        Some(about) => format!("claim: {}", about.replace('-', " ")),
        None => name.replace('-', " "),
    }
}

/// Formats a number with at most three significant digits and without trailing zeros: `0.5`, `6.96`.
pub(crate) fn trimmed(value: f64) -> String {
    let text = number(value);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Returns the coordinates of an item with units: `WT 300 ms, FER 5.9 %`.
pub(crate) fn place(item: &Item) -> String {
    let words: Vec<String> = item.x.iter().map(|(name, value)| coordinate(name, value)).collect();
    words.join(", ")
}

/// Returns the shortest form of a number: 139.1, or 7e-5 instead of 0.00007.
pub(crate) fn short(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-3 { format!("{number:e}") } else { number.to_string() }
}

fn coordinate(name: &str, value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.as_f64().map_or_else(|| value.to_string(), short),
    };
    let share = || value.as_f64().map_or(text.clone(), |share| format!("{:.1}", 100.0 * share));
    match name {
        "wt_ms" => format!("WT {text} ms"),
        "rate_kbps" => format!("{text} kbit/s"),
        "fer" => format!("FER {} %", share()),
        "awnd" => format!("awnd {text}"),
        "segment_bytes" => format!("{text} bytes"),
        "buffer_packets" => format!("buffer of {text} packets"),
        "loss_percent" => format!("loss {text} %"),
        "flows" => format!("{text} flows"),
        "reno" | "w_cw" => format!("{text} {name}"),
        _ => format!("{name} {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits_however_small() {
        for (value, text) in [
            (1234.5, "1234"),
            (99.96, "100"),
            (9.996, "10.0"),
            (0.388, "0.388"),
            (0.9996, "1.00"),
            (0.0442, "0.0442"),
            (-0.02, "-0.0200"),
            (0.0012345, "0.00123"),
            (7e-5, "7e-5"),
            (4.5678e-5, "4.57e-5"),
            (-1.25e-5, "-1.25e-5"),
            (0.0, "0"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn places_have_units() {
        let item =
            Item::new("test", "one", "series").at("fer", 0.059).at("rate_kbps", 384.0).at("wt_ms", 0.0);
        assert_eq!(place(&item), "FER 5.9 %, 384 kbit/s, WT 0 ms");
        assert_eq!(place(&Item::new("test", "one", "series").at("p_err", 0.01)), "p_err 0.01");
        assert_eq!(place(&Item::new("test", "one", "series").at("ber", 4.5e-5)), "ber 4.5e-5");
    }
}
