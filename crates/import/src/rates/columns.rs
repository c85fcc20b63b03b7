//! Finds the columns of time and rate in a table, and their units.

use super::time_format::{self, TimeFormat};
use crate::{ImportError, ImportOptions};

/// Units of rates, each with its size in bit/s. A capital B means bytes.
const UNITS: [(&str, f64); 32] = [
    ("bit/s", 1.0),
    ("bits/s", 1.0),
    ("bits/sec", 1.0),
    ("bits_per_second", 1.0),
    ("bps", 1.0),
    ("kbit/s", 1e3),
    ("kbits/s", 1e3),
    ("Kbits/sec", 1e3),
    ("kbits/sec", 1e3),
    ("kbps", 1e3),
    ("Kbps", 1e3),
    ("Mbit/s", 1e6),
    ("Mbits/s", 1e6),
    ("Mbits/sec", 1e6),
    ("Mb/s", 1e6),
    ("Mbps", 1e6),
    ("mbps", 1e6),
    ("Gbit/s", 1e9),
    ("Gbits/sec", 1e9),
    ("Gb/s", 1e9),
    ("Gbps", 1e9),
    ("gbps", 1e9),
    ("B/s", 8.0),
    ("bytes/s", 8.0),
    ("bytes/sec", 8.0),
    ("Bytes/sec", 8.0),
    ("kB/s", 8e3),
    ("KB/s", 8e3),
    ("KBytes/sec", 8e3),
    ("MB/s", 8e6),
    ("MBytes/sec", 8e6),
    ("GB/s", 8e9),
];

pub(crate) fn unit(name: &str) -> Option<f64> {
    UNITS.iter().find(|(known, _)| *known == name).map(|(_, bits)| *bits)
}

/// Returns the unit in a column's name: `throughput_mbps`, `rate (Mbit/s)`, `Bandwidth [KB/s]`.
fn unit_in(name: &str) -> Option<(&'static str, f64)> {
    let is_between = |c: char| !(c.is_alphanumeric() || c == '/');
    let words = || name.split(is_between).filter(|word| !word.is_empty());
    let exact = |word: &str| UNITS.iter().find(|(known, _)| *known == word);
    // A name in upper case, such as MBPS or KBPS, does not distinguish bits and bytes. Such a name counts as bits.
    let loose =
        |word: &str| UNITS.iter().find(|(known, _)| known.ends_with("bps") && *known == word.to_lowercase());
    words().find_map(|word| exact(word).or_else(|| loose(word))).map(|(name, bits)| (*name, *bits))
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnPlan {
    pub(crate) kind: &'static str,
    pub(crate) time: TimeColumn,
    pub(crate) rate: RateColumn,
    /// Index of a column and a word: only rows with this word in this column are used. `None`: all rows are used.
    pub(crate) only: Option<(usize, &'static str)>,
    pub(crate) has_names: bool,
    /// Sentences about assumptions, for the report.
    pub(crate) findings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TimeColumn {
    Column(usize, TimeFormat),
    /// The table has no column of times; each row covers one second.
    Seconds,
    /// Column with the time that each row covers, ms.
    Length(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RateColumn {
    /// Column of the rate, and the size of its unit, bit/s.
    Column(usize, f64),
    /// Column with the bytes since the previous row, used together with [`TimeColumn::Length`].
    Bytes(usize),
    Both(usize, usize),
}

/// Names of columns that contain times.
const TIMES: [&str; 12] = [
    "time",
    "timestamp",
    "t",
    "ts",
    "seconds",
    "sec",
    "date",
    "datetime",
    "epoch",
    "elapsed",
    "start",
    "seq_num",
];
/// Names of columns that contain rates.
const RATES: [&str; 8] =
    ["throughput", "bitrate", "bandwidth", "rate", "speed_down", "download", "goodput", "capacity"];

/// Finds the columns of time and rate: columns that the user requests, columns of a known data set, or columns with
/// unambiguous names.
pub(crate) fn plan(rows: &[Vec<String>], options: &ImportOptions) -> Result<ColumnPlan, ImportError> {
    let Some(first) = rows.first() else {
        return Err(ImportError::new("the table is empty", "a table needs one row for each sample"));
    };
    let is_number = |cell: &String| cell.trim().parse::<f64>().is_ok();
    let has_names =
        !first.iter().any(is_number) && first.iter().any(|cell| time_format::date(cell).is_none());
    let mut plan =
        if has_names { of_names(first, rows.get(1), options)? } else { of_numbers(first, options)? };
    plan.has_names = has_names;
    if let (TimeColumn::Column(column, TimeFormat::Number(seconds)), None) = (&plan.time, &options.time_unit)
        && *seconds == 1.0
        && (!has_names || time_format::unit_in(first.get(*column).map_or("", String::as_str)).is_none())
    {
        let column = *column;
        let times: Vec<f64> =
            rows.iter().filter_map(|row| row.get(column)?.trim().parse().ok()).take(100).collect();
        let mut steps: Vec<f64> =
            times.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0).collect();
        steps.sort_by(f64::total_cmp);
        let usual = steps.get(steps.len() / 2).copied().unwrap_or(1.0);
        if usual >= 50.0 && times.first().is_some_and(|time| *time < 1e9) && plan.kind == ANY {
            plan.time = TimeColumn::Column(column, TimeFormat::Number(1e-3));
            plan.findings.push(format!(
                "assumed: times are milliseconds, because rows are {usual} apart; --time-unit overrides this"
            ));
        }
    }
    Ok(plan)
}

const ANY: &str = "a table of rates";

fn of_names(
    names: &[String],
    next: Option<&Vec<String>>,
    options: &ImportOptions,
) -> Result<ColumnPlan, ImportError> {
    let find = |name: &str| names.iter().position(|known| known.trim() == name);
    let mut plan = ColumnPlan {
        kind: ANY,
        time: TimeColumn::Seconds,
        rate: RateColumn::Column(0, 1.0),
        only: None,
        has_names: true,
        findings: vec![],
    };
    if options.rate.is_none() && options.time.is_none() {
        if let (Some(value), Some(unit)) = (find("value"), find("unit")) {
            return Ok(ColumnPlan {
                kind: "a trace of NYU-METS",
                rate: RateColumn::Both(value, unit),
                ..plan
            });
        }
        if find("bytes_sec").is_some() && find("unit_id").is_some() {
            return Err(ImportError::new(
                "rows of the FCC's raw data are tests an hour apart, not a time series",
                "make a table of time and rate from it",
            ));
        }
        let known = [
            ("Timestamp", "DL_bitrate", 1e3, Some("State"), "a log of the Irish 4G or 5G data sets"),
            ("seq_num", "Throughput", 1e6, None, "a log of Lumos5G"),
            ("seq_num", "throughput_mbps", 1e6, None, "a log of 5Gophers"),
        ];
        for (time, rate, unit, state, kind) in known {
            let (Some(time), Some(rate)) = (find(time), find(rate)) else { continue };
            if options.unit.is_some() {
                check_unit(names, rate, options)?;
            }
            let time_format = if kind.contains("Irish") { TimeFormat::Date } else { TimeFormat::Number(1.0) };
            plan = ColumnPlan {
                kind,
                time: TimeColumn::Column(time, time_format),
                rate: RateColumn::Column(rate, unit),
                ..plan
            };
            if let Some(state) = state.and_then(find) {
                plan.only = Some((state, "D"));
                plan.findings.push(
                    "only rows in state D (downloading) count: rows in other states do not show the capacity"
                        .into(),
                );
            }
            return Ok(plan);
        }
    }
    let time = column(names, options.time.as_deref(), "--time", |name| {
        let name = name.to_lowercase();
        TIMES.iter().any(|known| {
            name == *known
                || name.strip_prefix(known).is_some_and(|rest| time_format::unit_in(rest).is_some())
        })
    })?;
    let rate = column(names, options.rate.as_deref(), "--rate", |name| {
        let lower = name.to_lowercase();
        (unit_in(name).is_some() || RATES.iter().any(|known| lower.contains(known)))
            && !lower.contains("ul_")
            && !lower.contains("upl")
    })?;
    let (Some(rate), time) = (rate, time) else {
        return Err(ImportError::new(
            "no column looks like a rate",
            format!("name the column: --rate COLUMN --unit Mbit/s; {}", listed(names)),
        ));
    };
    let bits = check_unit(names, rate, options)?;
    plan.rate = RateColumn::Column(rate, bits);
    plan.time = match time {
        None => {
            plan.findings.push(
                "assumed: one row per second, because no column looks like a time; --time COLUMN overrides this".into(),
            );
            TimeColumn::Seconds
        }
        Some(time) => TimeColumn::Column(
            time,
            time_format_of(&names[time], next.and_then(|row| row.get(time)), options)?,
        ),
    };
    Ok(plan)
}

/// Finds the column with the name or number `asked`. If `asked` is `None`, finds the only column whose name fits, or
/// returns `None` if no name fits.
fn column(
    names: &[String],
    asked: Option<&str>,
    flag: &str,
    fits: impl Fn(&str) -> bool,
) -> Result<Option<usize>, ImportError> {
    if let Some(asked) = asked {
        let by_name = names.iter().position(|name| name.trim() == asked);
        let by_number = || {
            asked
                .parse::<usize>()
                .ok()
                .filter(|number| (1..=names.len()).contains(number))
                .map(|number| number - 1)
        };
        return by_name
            .or_else(by_number)
            .map(Some)
            .ok_or_else(|| ImportError::new(format!("{flag}: there is no column `{asked}`"), listed(names)));
    }
    let fitting: Vec<usize> = (0..names.len()).filter(|at| fits(names[*at].trim())).collect();
    match fitting[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let all: Vec<&str> = fitting.iter().map(|at| names[*at].trim()).collect();
            Err(ImportError::new(
                format!("several columns match: {}", crate::import_result::shortened(&all.join(", "))),
                format!("name one of them: {flag} COLUMN"),
            ))
        }
    }
}

fn listed(names: &[String]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.trim()).take(40).collect();
    format!("columns: {}", crate::import_result::plain(&names.join(", ")))
}

/// Returns the unit of a column of rates, from the column's name or from --unit. If both are given, they must agree.
fn check_unit(names: &[String], column: usize, options: &ImportOptions) -> Result<f64, ImportError> {
    let name = names.get(column).map_or("", |name| name.trim());
    let asked = match &options.unit {
        None => None,
        Some(text) => Some(unit(text.trim()).ok_or_else(|| {
            let known: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
            ImportError::new(
                format!("--unit: `{text}` is not a unit of a rate"),
                format!("one of: {}", known.join(", ")),
            )
        })?),
    };
    let name_of = crate::import_result::shortened(name);
    match (unit_in(name), asked) {
        (Some((said, bits)), Some(asked)) if bits != asked => Err(ImportError::new(
            format!(
                "units contradict: the column is called `{name_of}`, which means {said}, but --unit is {}",
                options.unit.as_deref().unwrap_or_default()
            ),
            "leave --unit out, or correct the column's name",
        )),
        (_, Some(bits)) => Ok(bits),
        (Some((_, bits)), None) => Ok(bits),
        (None, None) => Err(ImportError::new(
            format!("the unit of `{name_of}` is not known"),
            "set it: --unit Mbit/s, kbit/s, bit/s, MB/s …",
        )),
    }
}

fn time_format_of(
    name: &str,
    first: Option<&String>,
    options: &ImportOptions,
) -> Result<TimeFormat, ImportError> {
    let first = first.map_or("", |cell| cell.trim());
    let guessed = time_format::guess(first).ok_or_else(|| {
        ImportError::new(
            format!(
                "the column `{}` begins with `{}`, which is not a time",
                crate::import_result::shortened(name.trim()),
                crate::import_result::shortened(first)
            ),
            "times are numbers, or dates such as 2020-01-31 10:07:03; --time COLUMN names another column",
        )
    })?;
    let asked = match &options.time_unit {
        None => None,
        Some(text) => Some(time_format::unit(text.trim()).ok_or_else(|| {
            ImportError::new(format!("--time-unit: `{text}` is not a unit of time"), "one of: s, ms, us, ns")
        })?),
    };
    match (guessed, asked, time_format::unit_in(name)) {
        (_, Some(asked), Some(said)) if asked != said => Err(ImportError::new(
            format!(
                "the units contradict each other: the name of the column `{}` gives a different unit than --time-unit",
                crate::import_result::shortened(name.trim())
            ),
            "leave --time-unit out, or correct the column's name",
        )),
        (TimeFormat::Date, Some(_), _) => {
            Err(ImportError::new("--time-unit: the times are dates", "leave --time-unit out"))
        }
        (_, Some(asked), _) => Ok(TimeFormat::Number(asked)),
        (TimeFormat::Number(guessed), None, said) => Ok(TimeFormat::Number(said.unwrap_or(guessed))),
        (TimeFormat::Date, None, _) => Ok(TimeFormat::Date),
    }
}

/// Finds the columns of a table without column names. Known data sets are recognised by their form; other tables need
/// column numbers.
fn of_numbers(first: &[String], options: &ImportOptions) -> Result<ColumnPlan, ImportError> {
    let plan = ColumnPlan {
        kind: ANY,
        time: TimeColumn::Seconds,
        rate: RateColumn::Column(0, 1.0),
        only: None,
        has_names: false,
        findings: vec![],
    };
    let numbers: Vec<String> = (1..=first.len()).map(|number| number.to_string()).collect();
    if options.rate.is_some() || options.time.is_some() {
        let Some(rate) = column(&numbers, options.rate.as_deref(), "--rate", |_| false)? else {
            return Err(ImportError::new(
                "the column of the rate is unknown",
                format!("the first row has no names: set --rate NUMBER, from 1 to {}", first.len()),
            ));
        };
        let bits = check_unit(&numbers, rate, options)?;
        let time = column(&numbers, options.time.as_deref(), "--time", |_| false)?;
        let time = match time {
            None => TimeColumn::Seconds,
            Some(time) => TimeColumn::Column(time, time_format_of("", first.get(time), options)?),
        };
        return Ok(ColumnPlan { time, rate: RateColumn::Column(rate, bits), ..plan });
    }
    let cells: Vec<Option<f64>> = first.iter().map(|cell| cell.trim().parse().ok()).collect();
    match (&cells[..], first) {
        ([Some(when), Some(_), Some(_), Some(_), Some(_), Some(_)], _) if *when > 1e8 => {
            let kind = if *when > 1e12 {
                "a log of the Ghent 4G data set"
            } else {
                "a log of the HSDPA data set of Oslo"
            };
            Ok(ColumnPlan { kind, time: TimeColumn::Length(5), rate: RateColumn::Bytes(4), ..plan })
        }
        ([Some(_), None], [_, name]) if unit(name.trim()).is_some() => {
            Ok(ColumnPlan { kind: "a trace of NYU-METS", rate: RateColumn::Both(0, 1), ..plan })
        }
        ([Some(_), Some(_)], _) => {
            let bits = match &options.unit {
                Some(_) => check_unit(&numbers, 1, options)?,
                None => 1e6,
            };
            let mut findings = Vec::new();
            if options.unit.is_none() {
                findings.push(
                    "assumed: the second column is Mbit/s, as in Pensieve's traces; --unit overrides this"
                        .into(),
                );
            }
            let time = TimeColumn::Column(0, time_format_of("", first.first(), options)?);
            Ok(ColumnPlan {
                kind: "a table of times and rates",
                time,
                rate: RateColumn::Column(1, bits),
                findings,
                ..plan
            })
        }
        ([Some(_), Some(_), Some(train), ..], _) if *train == 0.0 => Err(ImportError::new(
            "this looks like CellReplay's light trace of packet trains, which cannot be read alone",
            "use CellReplay's heavy traces, which have Mahimahi's format",
        )),
        _ => Err(ImportError::new(
            format!("the {} columns have no names, and the table belongs to no known data set", first.len()),
            "name them by number: --time 1 --rate 2 --unit Mbit/s",
        )),
    }
}
