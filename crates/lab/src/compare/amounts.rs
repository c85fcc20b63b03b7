//! Values of a varied key, converted to numbers in a base unit.

use lasthop_base::quantity;

/// Values of one quantity (time, rate, size, packets or share), converted to the quantity's base unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Amounts {
    /// Suffix that states the unit in a column's name: `_s`, `_bps`, `_bytes`, `_packets` or `_share`.
    pub suffix: &'static str,
    /// Unit in words: `s`, `bit/s`, `bytes`, `packets`, or `of 1` if the values are shares.
    pub unit: &'static str,
    /// Converted numbers, one for each value.
    pub numbers: Vec<f64>,
}

/// One kind of quantity: suffix of a column's name, unit in words, and the function that converts a text to the base
/// unit.
type Reading = (&'static str, &'static str, fn(&str) -> Option<f64>);

const READINGS: [Reading; 5] = [
    ("_s", "s", |text| Some(quantity::duration(text).ok()?.as_secs())),
    ("_bps", "bit/s", |text| Some(quantity::rate(text).ok()?.bps() as f64)),
    ("_bytes", "bytes", |text| Some(quantity::bytes(text).ok()? as f64)),
    ("_packets", "packets", packets),
    ("_share", "of 1", |text| quantity::probability(text).ok()),
];

impl Amounts {
    /// Converts the values of a key. Returns `None` if a value is not an amount, if the values are of several
    /// quantities, or if no value has a unit.
    pub fn of(values: &[&str]) -> Option<Amounts> {
        let has_unit = |value: &&str| quantity::split(value).is_ok_and(|(_, unit)| !unit.is_empty());
        if !values.iter().any(has_unit) {
            return None;
        }
        READINGS.iter().find_map(|(suffix, unit, of)| {
            let numbers: Option<Vec<f64>> = values.iter().map(|value| of(value)).collect();
            Some(Amounts { suffix, unit, numbers: numbers? })
        })
    }
}

fn packets(text: &str) -> Option<f64> {
    match quantity::split(text).ok()? {
        (number, "packet" | "packets") => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_the_base_unit() {
        let of = |values: &[&str]| Amounts::of(values).map(|it| (it.suffix, it.numbers));
        assert_eq!(of(&["1 s", "250ms"]), Some(("_s", vec![1.0, 0.25])));
        assert_eq!(of(&["500kbit/s", "2 Mbit/s"]), Some(("_bps", vec![5e5, 2e6])));
        assert_eq!(of(&["64KB", "1 MB"]), Some(("_bytes", vec![64e3, 1e6])));
        assert_eq!(of(&["10packets", "1 packet"]), Some(("_packets", vec![10.0, 1.0])));
        assert_eq!(of(&["0", "1 %", "0.02"]), Some(("_share", vec![0.0, 0.01, 0.02])));
        for others in [&["reno", "cubic"][..], &["10ms", "20packets"], &["1", "2"], &["1 bdp"], &[]] {
            assert_eq!(of(others), None, "{others:?}");
        }
    }
}
