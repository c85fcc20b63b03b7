//! Positions of values on an axis, and the ticks of the axis.

/// Range of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Value at the start.
    pub low: f64,
    /// Value at the end, above `low`.
    pub high: f64,
    /// Whether the axis is logarithmic.
    pub log: bool,
}

/// Labelled position on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position as a share of the axis, 0 to 1.
    pub at: f64,
    /// Label.
    pub label: Label,
}

/// Label of a tick: the number `text` times ten to the power of `power`. Without a `power`, the label is the number. If
/// `text` is empty, the label is only the power of ten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Digits of the number.
    pub text: String,
    /// Exponent of ten.
    pub power: Option<i32>,
}

impl Scale {
    /// Returns the range from `low` to `high`. If the two values are equal, the range is widened.
    pub fn new(low: f64, high: f64, log: bool) -> Scale {
        if high > low {
            Scale { low, high, log }
        } else if log {
            Scale { low: low / 2.0, high: high * 2.0, log }
        } else if low == 0.0 {
            Scale { low, high: 1.0, log }
        } else {
            Scale { low: low - low.abs() / 10.0, high: high + high.abs() / 10.0, log }
        }
    }

    /// Extends the range by `share` of its length: at the lower end if `below`, and at the upper end if `above`.
    pub fn padded(self, share: f64, below: bool, above: bool) -> Scale {
        let Scale { low, high, log } = self;
        let room = (to_linear(high, log) - to_linear(low, log)) * share;
        let moved = |end: f64, by: f64| if log { libm::pow(10.0, libm::log10(end) + by) } else { end + by };
        let low = if below { moved(low, -room) } else { low };
        let high = if above { moved(high, room) } else { high };
        Scale { low, high, log }
    }

    /// Whether `value` has a position on the axis. A logarithmic axis has no position for 0 or less.
    pub fn has(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    /// Returns the position of `value` as a share of the axis. The position of a value beyond the ends is below 0 or
    /// above 1. [`has`](Self::has) must be true for `value`.
    pub fn place(&self, value: f64) -> f64 {
        let low = to_linear(self.low, self.log);
        (to_linear(value, self.log) - low) / (to_linear(self.high, self.log) - low)
    }

    /// Returns the position like [`place`](Self::place), limited to 0 to 1. Returns 0 for a value without a position.
    pub fn clipped(&self, value: f64) -> f64 {
        if self.has(value) { self.place(value).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns ticks at round numbers. The number of ticks is about `wanted`.
    pub fn ticks(&self, wanted: usize) -> Vec<Tick> {
        let values = if self.log { self.ratios(wanted) } else { self.differences(wanted) };
        values.into_iter().map(|(value, label)| Tick { at: self.place(value), label }).collect()
    }

    /// Returns the positions of the minor grid lines of a logarithmic axis. The lines are at two to nine times each
    /// power of ten.
    pub fn minor(&self) -> Vec<f64> {
        let (first, last) = self.decades();
        if !self.log || last - first > 7 {
            return Vec::new();
        }
        let all = (first..=last).flat_map(|power| (2..=9).map(move |one| f64::from(one) * ten(power)));
        all.filter(|value| self.contains(*value)).map(|value| self.place(value)).collect()
    }

    /// Returns the ticks of a logarithmic axis. The ticks are at powers of ten. If fewer than three powers fit, the
    /// ticks are at 1, 2 and 5 times the powers. If these ticks are too few, too, the ticks have equal distances.
    fn ratios(&self, wanted: usize) -> Vec<(f64, Label)> {
        let (first, last) = self.decades();
        let plain = first >= -3 && last <= 5;
        let of = |every: usize, ones: &[u8]| -> Vec<(f64, Label)> {
            let all =
                (first..=last).step_by(every).flat_map(|power| ones.iter().map(move |one| (power, *one)));
            let all = all.map(|(power, one)| (f64::from(one) * ten(power), power, one));
            all.filter(|(value, ..)| self.contains(*value))
                .map(|(value, power, one)| {
                    (value, if plain { Label::plain(value, -power) } else { Label::times(one, power) })
                })
                .collect()
        };
        // Labels that are powers of ten are narrow, so that 50 % more labels fit.
        let every = of(1, &[1]).len().div_ceil(wanted + wanted.div_ceil(2)).max(1);
        let (powers, more) = (of(every, &[1]), of(1, &[1, 2, 5]));
        match (powers.len(), more.len()) {
            (3.., _) => powers,
            (_, 3..) => more,
            _ => self.differences(wanted),
        }
    }

    fn differences(&self, wanted: usize) -> Vec<(f64, Label)> {
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let power = libm::floor(libm::log10(rough)) as i32;
        let (one, power) = match rough / ten(power) {
            ..1.5 => (1.0, power),
            ..3.5 => (2.0, power),
            ..7.5 => (5.0, power),
            _ => (1.0, power + 1),
        };
        let step = one * ten(power);
        let largest = self.low.abs().max(self.high.abs());
        let size = libm::floor(libm::log10(largest)) as i32;
        let is_plain = size < 7 && power > -5;
        // Each tick is a multiple of the step, because repeated addition of the step would accumulate rounding errors.
        let (first, last) = (libm::ceil(self.low / step - 1e-9), libm::floor(self.high / step + 1e-9));
        let count = (last - first).max(0.0) as u32;
        let values = (0..=count).map(|index| (first + f64::from(index)) * one);
        values
            .map(|multiple| {
                let value = multiple * ten(power);
                let label = if is_plain {
                    Label::plain(value, -power)
                } else if multiple == 0.0 {
                    Label::plain(0.0, 0)
                } else {
                    Label { text: decimals(value / ten(size), size - power), power: Some(size) }
                };
                (value, label)
            })
            .collect()
    }

    fn decades(&self) -> (i32, i32) {
        (libm::floor(libm::log10(self.low)) as i32, libm::ceil(libm::log10(self.high)) as i32)
    }

    fn contains(&self, value: f64) -> bool {
        (-1e-9..=1.0 + 1e-9).contains(&self.place(value))
    }
}

impl Label {
    /// Returns a label with the decimal number `value`. Commas separate the thousands.
    fn plain(value: f64, decimals_: i32) -> Label {
        Label { text: thousands(&decimals(value, decimals_)), power: None }
    }

    fn times(one: u8, power: i32) -> Label {
        Label { text: if one == 1 { String::new() } else { one.to_string() }, power: Some(power) }
    }

    /// Returns the approximate width of the label, in characters.
    pub fn width(&self) -> usize {
        let power = self.power.map_or(0, |power| 2 + power.to_string().len() * 3 / 4);
        let dot = usize::from(self.power.is_some() && !self.text.is_empty());
        self.text.chars().count() + dot + power
    }

    /// Returns the SVG markup of the label.
    pub fn svg(&self) -> String {
        let Some(power) = self.power else { return self.text.clone() };
        let dot = if self.text.is_empty() { "" } else { "·" };
        let power = power.to_string().replace('-', "−");
        format!("{}{dot}10<tspan dy=\"-5\">{power}</tspan>", self.text)
    }
}

fn decimals(value: f64, places: i32) -> String {
    let text = format!("{value:.*}", places.max(0) as usize);
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_string(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}

fn thousands(number: &str) -> String {
    let (whole, rest) = number.find('.').map_or((number, ""), |dot| number.split_at(dot));
    let digits = whole.chars().filter(char::is_ascii_digit).count();
    let mut out = String::with_capacity(number.len() + digits / 3);
    let mut left = digits;
    for character in whole.chars() {
        out.push(character);
        if character.is_ascii_digit() {
            left -= 1;
            if left > 0 && left % 3 == 0 {
                out.push(',');
            }
        }
    }
    out + rest
}

fn to_linear(value: f64, log: bool) -> f64 {
    if log { libm::log10(value) } else { value }
}

fn ten(power: i32) -> f64 {
    // A power of ten that is parsed from text is exact. A computed power of ten may have a rounding error.
    format!("1e{power}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, log: bool, wanted: usize) -> Vec<String> {
        let name = |label: Label| match label.power {
            Some(power) => format!("{}^{power}", label.text),
            None => label.text,
        };
        Scale::new(low, high, log).ticks(wanted).into_iter().map(|tick| name(tick.label)).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_no_longer_than_they_must_be() {
        assert_eq!(labels(0.0, 2050.0, false, 5), ["0", "500", "1,000", "1,500", "2,000"]);
        assert_eq!(labels(0.0, 1.0, false, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-25.0, 110.0, false, 6), ["−20", "0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(0.975, 1.0, false, 5), ["0.975", "0.980", "0.985", "0.990", "0.995", "1.000"]);
        assert_eq!(labels(0.0, 9e6, false, 4)[1], "2,000,000");
        assert_eq!(labels(0.0, 1e-5, false, 5)[..2], ["0", "0.2^-5"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_or_what_a_short_axis_has() {
        assert_eq!(labels(1e-6, 1e-3, true, 8), ["^-6", "^-5", "^-4", "^-3"]);
        assert_eq!(labels(0.5, 2000.0, true, 8), ["1", "10", "100", "1,000"]);
        assert_eq!(labels(8e-6, 2e-4, true, 8), ["^-5", "2^-5", "5^-5", "^-4", "2^-4"]);
        assert_eq!(labels(3.0, 4.0, true, 5), ["3.0", "3.2", "3.4", "3.6", "3.8", "4.0"]);
        assert_eq!(labels(0.005, 300.0, true, 5), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(1e-20, 1.0, true, 8)[..2], ["^-20", "^-18"]);
    }

    #[test]
    fn a_place_is_a_share_of_the_axis() {
        let log = Scale::new(1e-6, 1e-2, true);
        assert!((log.place(1e-5) - 0.25).abs() < 1e-12);
        assert!(!log.has(0.0) && log.clipped(0.0) == 0.0 && log.clipped(1.0) == 1.0);
        let linear = Scale::new(-1.0, 3.0, false);
        assert!((linear.place(0.0) - 0.25).abs() < 1e-12 && !linear.has(f64::NAN));
        let wider = linear.padded(0.25, true, false);
        assert_eq!((wider.low, wider.high), (-2.0, 3.0));
    }

    #[test]
    fn a_single_value_has_an_axis_too() {
        for (value, log) in [(0.0, false), (5.0, false), (-5.0, false), (5.0, true)] {
            let scale = Scale::new(value, value, log);
            assert!(scale.low < scale.high && (0.0..=1.0).contains(&scale.place(value)), "{value} {log}");
        }
    }
}
