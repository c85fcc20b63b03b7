//! Parses times in tables: numbers with a unit, or dates.

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum TimeFormat {
    /// A number in a unit. The variant holds the length of the unit, s.
    Number(f64),
    /// A date and time, or a time of day: `2017.11.22_10.07.03`, `2020-01-31T10:07:03.25Z`, `10:07:03`.
    Date,
}

/// Units of time, with their length in s.
const UNITS: [(&str, f64); 11] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("msec", 1e-3),
    ("millis", 1e-3),
    ("milliseconds", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("secs", 1.0),
    ("seconds", 1.0),
];

pub(crate) fn unit(name: &str) -> Option<f64> {
    UNITS.iter().find(|(known, _)| *known == name).map(|(_, seconds)| *seconds)
}

/// Length in s of the unit at the end of a column's name: `time_ms`, `elapsed (s)`.
pub(crate) fn unit_in(name: &str) -> Option<f64> {
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let last = words.next_back()?.to_lowercase();
    // A column whose whole name is `s` also gives the unit; `ts` does not.
    unit(&last)
}

/// Guesses the format from the first value: a date, a time since 1970, or seconds. The magnitude of a time since 1970
/// reveals its unit (s, ms, us or ns).
pub(crate) fn guess(first: &str) -> Option<TimeFormat> {
    let Ok(number) = first.trim().parse::<f64>() else {
        return date(first).map(|_| TimeFormat::Date);
    };
    let seconds = match number {
        n if n >= 1e17 => 1e-9,
        n if n >= 1e14 => 1e-6,
        n if n >= 1e11 => 1e-3,
        _ => 1.0,
    };
    Some(TimeFormat::Number(seconds))
}

impl TimeFormat {
    pub(crate) fn read(self, cell: &str) -> Option<f64> {
        match self {
            TimeFormat::Number(unit) => {
                let number = cell.trim().parse::<f64>().ok()?;
                (number.is_finite() && number.abs() < 1e20).then_some(number * unit)
            }
            TimeFormat::Date => date(cell),
        }
    }
}

/// Parses a date and time to seconds since 1970, or a time of day to seconds. Time zones are ignored.
pub(crate) fn date(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.len() > 64 {
        return None;
    }
    let mut parts: Vec<u64> = Vec::new();
    let mut fraction = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let number = &rest[..digits];
            if parts.len() == 6 || (parts.len() == 3 && text.contains(':') && is_time_of_day(text)) {
                fraction = format!("0.{number}").parse().ok()?;
                break;
            }
            parts.push(number.parse().ok()?);
            rest = &rest[digits..];
        } else {
            let c = rest.chars().next()?;
            if !"-/._:T ,".contains(c) {
                // The remaining text is a time zone, such as Z or +01:00.
                break;
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    let within = |hour: u64, minute: u64, second: u64| {
        (hour < 24 && minute < 60 && second < 61)
            .then(|| (hour * 3600 + minute * 60 + second) as f64 + fraction)
    };
    match parts[..] {
        [hour, minute, second] if is_time_of_day(text) => within(hour, minute, second),
        [year, month, day, hour, minute, second] => {
            let is_date =
                (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
            let days = is_date.then(|| days(year as i64, month as i64, day as i64))?;
            within(hour, minute, second).map(|seconds| days as f64 * 86_400.0 + seconds)
        }
        _ => None,
    }
}

fn is_time_of_day(text: &str) -> bool {
    text.find(':').is_some_and(|at| at <= 2)
}

/// Days since 1970-01-01 in the Gregorian calendar. A year begins in March here, so that a leap day is the last day of
/// its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year / 400, year % 400);
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_people_write_them() {
        // The result of `date -u -d '2017-11-22 10:07:03' +%s`
        let expected = Some(1_511_345_223.0);
        for text in
            ["2017.11.22_10.07.03", "2017-11-22 10:07:03", "2017/11/22 10:07:03", "2017-11-22T10:07:03Z"]
        {
            assert_eq!(date(text), expected, "{text}");
        }
        assert_eq!(date("2017-11-22T10:07:03.25+01:00"), expected.map(|seconds| seconds + 0.25));
        assert_eq!(date("10:07:03.5"), Some(36_423.5));
        // The result of `date -u -d '2024-02-29' +%s`
        assert_eq!(date("2024-02-29 00:00:00"), Some(1_709_164_800.0));
        for wrong in ["", "x", "2017-13-01 00:00:00", "25:00:00", "12", "-", "2017-11-22"] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_moment_s_size_tells_its_unit() {
        for (text, unit) in
            [("1453121790686", 1e-3), ("1453121790.686", 1.0), ("1453121790686000000", 1e-9), ("17", 1.0)]
        {
            assert_eq!(guess(text), Some(TimeFormat::Number(unit)));
        }
        assert_eq!(guess("2017.11.22_10.07.03"), Some(TimeFormat::Date));
        assert_eq!(guess("n/a"), None);
        assert_eq!(
            (unit_in("time_ms"), unit_in("elapsed (s)"), unit_in("timestamp")),
            (Some(1e-3), Some(1.0), None)
        );
    }
}
