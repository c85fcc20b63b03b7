//! Columns of time and rate in a table, and their units.

use super::clock::{self, Clock};
use crate::{Ask, Refusal};

/// Units of rates, bit/s; a capital B is a byte.
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

/// Unit in a column's name: `throughput_mbps`, `rate (Mbit/s)`, `Bandwidth [KB/s]`.
fn unit_in(name: &str) -> Option<(&'static str, f64)> {
    let is_between = |c: char| !(c.is_alphanumeric() || c == '/');
    let words = || name.split(is_between).filter(|word| !word.is_empty());
    let exact = |word: &str| UNITS.iter().find(|(known, _)| *known == word);
    // Names in upper case do not distinguish bits and bytes: MBPS, KBPS.
    let loose =
        |word: &str| UNITS.iter().find(|(known, _)| known.ends_with("bps") && *known == word.to_lowercase());
    words().find_map(|word| exact(word).or_else(|| loose(word))).map(|(name, bits)| (*name, *bits))
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) kind: &'static str,
    pub(crate) time: Time,
    pub(crate) rate: Rate,
    /// Rows count only if this column has this word.
    pub(crate) only: Option<(usize, &'static str)>,
    pub(crate) has_names: bool,
    /// Assumptions, as sentences.
    pub(crate) says: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Time {
    Column(usize, Clock),
    /// One row per second.
    Seconds,
    /// Column with the row's length, ms.
    Length(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rate {
    /// A column; bit/s per unit.
    Column(usize, f64),
    /// Column with the bytes since the row before, with [`Time::Length`].
    Bytes(usize),
    Both(usize, usize),
}

/// Column names of times, and of rates.
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
const RATES: [&str; 8] =
    ["throughput", "bitrate", "bandwidth", "rate", "speed_down", "download", "goodput", "capacity"];

/// Finds the columns: those requested, those of a known data set, or those with unambiguous names.
pub(crate) fn plan(rows: &[Vec<String>], ask: &Ask) -> Result<Plan, Refusal> {
    let Some(first) = rows.first() else {
        return Err(Refusal::new("the table is empty", "it needs a row for each moment"));
    };
    let is_number = |cell: &String| cell.trim().parse::<f64>().is_ok();
    let has_names = !first.iter().any(is_number) && first.iter().any(|cell| clock::date(cell).is_none());
    let mut plan = if has_names { of_names(first, rows.get(1), ask)? } else { of_numbers(first, ask)? };
    plan.has_names = has_names;
    if let (Time::Column(column, Clock::Number(seconds)), None) = (&plan.time, &ask.time_unit)
        && *seconds == 1.0
        && (!has_names || clock::unit_in(first.get(*column).map_or("", String::as_str)).is_none())
    {
        let column = *column;
        let times: Vec<f64> =
            rows.iter().filter_map(|row| row.get(column)?.trim().parse().ok()).take(100).collect();
        let mut steps: Vec<f64> =
            times.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0).collect();
        steps.sort_by(f64::total_cmp);
        let usual = steps.get(steps.len() / 2).copied().unwrap_or(1.0);
        if usual >= 50.0 && times.first().is_some_and(|time| *time < 1e9) && plan.kind == ANY {
            plan.time = Time::Column(column, Clock::Number(1e-3));
            plan.says.push(format!(
                "assumed: times are milliseconds, because rows are {usual} apart; --time-unit overrides this"
            ));
        }
    }
    Ok(plan)
}

const ANY: &str = "a table of rates";

fn of_names(names: &[String], next: Option<&Vec<String>>, ask: &Ask) -> Result<Plan, Refusal> {
    let find = |name: &str| names.iter().position(|known| known.trim() == name);
    let mut plan = Plan {
        kind: ANY,
        time: Time::Seconds,
        rate: Rate::Column(0, 1.0),
        only: None,
        has_names: true,
        says: vec![],
    };
    if ask.rate.is_none() && ask.time.is_none() {
        if let (Some(value), Some(unit)) = (find("value"), find("unit")) {
            return Ok(Plan { kind: "a trace of NYU-METS", rate: Rate::Both(value, unit), ..plan });
        }
        if find("bytes_sec").is_some() && find("unit_id").is_some() {
            return Err(Refusal::new(
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
            if ask.unit.is_some() {
                check_unit(names, rate, ask)?;
            }
            let clock = if kind.contains("Irish") { Clock::Date } else { Clock::Number(1.0) };
            plan = Plan { kind, time: Time::Column(time, clock), rate: Rate::Column(rate, unit), ..plan };
            if let Some(state) = state.and_then(find) {
                plan.only = Some((state, "D"));
                plan.says.push(
                    "only rows in state D (downloading) count: the others do not show the capacity".into(),
                );
            }
            return Ok(plan);
        }
    }
    let time = column(names, ask.time.as_deref(), "--time", |name| {
        let name = name.to_lowercase();
        TIMES.iter().any(|known| {
            name == *known || name.strip_prefix(known).is_some_and(|rest| clock::unit_in(rest).is_some())
        })
    })?;
    let rate = column(names, ask.rate.as_deref(), "--rate", |name| {
        let lower = name.to_lowercase();
        (unit_in(name).is_some() || RATES.iter().any(|known| lower.contains(known)))
            && !lower.contains("ul_")
            && !lower.contains("upl")
    })?;
    let (Some(rate), time) = (rate, time) else {
        return Err(Refusal::new(
            "no column looks like a rate",
            format!("name it: --rate COLUMN --unit Mbit/s; {}", listed(names)),
        ));
    };
    let bits = check_unit(names, rate, ask)?;
    plan.rate = Rate::Column(rate, bits);
    plan.time = match time {
        None => {
            plan.says.push(
                "assumed: one row per second, because no column looks like a time; --time names one".into(),
            );
            Time::Seconds
        }
        Some(time) => Time::Column(time, clock_of(&names[time], next.and_then(|row| row.get(time)), ask)?),
    };
    Ok(plan)
}

/// A column by its name or number, or the only column that fits; `None` if none fits.
fn column(
    names: &[String],
    asked: Option<&str>,
    flag: &str,
    fits: impl Fn(&str) -> bool,
) -> Result<Option<usize>, Refusal> {
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
            .ok_or_else(|| Refusal::new(format!("{flag}: there is no column `{asked}`"), listed(names)));
    }
    let fitting: Vec<usize> = (0..names.len()).filter(|at| fits(names[*at].trim())).collect();
    match fitting[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let all: Vec<&str> = fitting.iter().map(|at| names[*at].trim()).collect();
            Err(Refusal::new(
                format!("several columns could be meant: {}", crate::found::plain(&all.join(", "))),
                format!("name one: {flag} COLUMN"),
            ))
        }
    }
}

fn listed(names: &[String]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.trim()).take(40).collect();
    format!("columns: {}", crate::found::plain(&names.join(", ")))
}

/// Unit of a column of rates, from its name or --unit, which must agree.
fn check_unit(names: &[String], column: usize, ask: &Ask) -> Result<f64, Refusal> {
    let name = names.get(column).map_or("", |name| name.trim());
    let asked = match &ask.unit {
        None => None,
        Some(text) => Some(unit(text.trim()).ok_or_else(|| {
            let known: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
            Refusal::new(
                format!("--unit: `{text}` is no unit of a rate"),
                format!("one of: {}", known.join(", ")),
            )
        })?),
    };
    let name_of = crate::found::plain(name);
    match (unit_in(name), asked) {
        (Some((said, bits)), Some(asked)) if bits != asked => Err(Refusal::new(
            format!(
                "units contradict: the column is called `{name_of}`, which means {said}, but --unit is {}",
                ask.unit.as_deref().unwrap_or_default()
            ),
            "leave --unit out, or correct the column's name",
        )),
        (_, Some(bits)) => Ok(bits),
        (Some((_, bits)), None) => Ok(bits),
        (None, None) => Err(Refusal::new(
            format!("the unit of `{name_of}` is not known"),
            "set it: --unit Mbit/s, kbit/s, bit/s, MB/s …",
        )),
    }
}

fn clock_of(name: &str, first: Option<&String>, ask: &Ask) -> Result<Clock, Refusal> {
    let first = first.map_or("", |cell| cell.trim());
    let guessed = clock::guess(first).ok_or_else(|| {
        Refusal::new(
            format!(
                "the column `{}` begins with `{}`, which is no time",
                crate::found::plain(name.trim()),
                crate::found::plain(first)
            ),
            "times are numbers, or dates such as 2020-01-31 10:07:03; --time COLUMN names another column",
        )
    })?;
    let asked = match &ask.time_unit {
        None => None,
        Some(text) => Some(clock::unit(text.trim()).ok_or_else(|| {
            Refusal::new(format!("--time-unit: `{text}` is no unit of time"), "one of: s, ms, us, ns")
        })?),
    };
    match (guessed, asked, clock::unit_in(name)) {
        (_, Some(asked), Some(said)) if asked != said => Err(Refusal::new(
            format!(
                "units contradict: the column `{}` names another unit than --time-unit",
                crate::found::plain(name.trim())
            ),
            "leave --time-unit out, or correct the column's name",
        )),
        (Clock::Date, Some(_), _) => Err(Refusal::new("--time-unit: the times are dates", "leave it out")),
        (_, Some(asked), _) => Ok(Clock::Number(asked)),
        (Clock::Number(guessed), None, said) => Ok(Clock::Number(said.unwrap_or(guessed))),
        (Clock::Date, None, _) => Ok(Clock::Date),
    }
}

/// Tables without names: known data sets by their form, others by column numbers.
fn of_numbers(first: &[String], ask: &Ask) -> Result<Plan, Refusal> {
    let plan = Plan {
        kind: ANY,
        time: Time::Seconds,
        rate: Rate::Column(0, 1.0),
        only: None,
        has_names: false,
        says: vec![],
    };
    let numbers: Vec<String> = (1..=first.len()).map(|number| number.to_string()).collect();
    if ask.rate.is_some() || ask.time.is_some() {
        let Some(rate) = column(&numbers, ask.rate.as_deref(), "--rate", |_| false)? else {
            return Err(Refusal::new(
                "the column of the rate is unknown",
                format!("the first row has no names: set --rate NUMBER, from 1 to {}", first.len()),
            ));
        };
        let bits = check_unit(&numbers, rate, ask)?;
        let time = column(&numbers, ask.time.as_deref(), "--time", |_| false)?;
        let time = match time {
            None => Time::Seconds,
            Some(time) => Time::Column(time, clock_of("", first.get(time), ask)?),
        };
        return Ok(Plan { time, rate: Rate::Column(rate, bits), ..plan });
    }
    let cells: Vec<Option<f64>> = first.iter().map(|cell| cell.trim().parse().ok()).collect();
    match (&cells[..], first) {
        ([Some(when), Some(_), Some(_), Some(_), Some(_), Some(_)], _) if *when > 1e8 => {
            let kind = if *when > 1e12 {
                "a log of the Ghent 4G data set"
            } else {
                "a log of the HSDPA data set of Oslo"
            };
            Ok(Plan { kind, time: Time::Length(5), rate: Rate::Bytes(4), ..plan })
        }
        ([Some(_), None], [_, name]) if unit(name.trim()).is_some() => {
            Ok(Plan { kind: "a trace of NYU-METS", rate: Rate::Both(0, 1), ..plan })
        }
        ([Some(_), Some(_)], _) => {
            let bits = match &ask.unit {
                Some(_) => check_unit(&numbers, 1, ask)?,
                None => 1e6,
            };
            let mut says = Vec::new();
            if ask.unit.is_none() {
                says.push(
                    "assumed: the second column is Mbit/s, as in Pensieve's traces; --unit overrides this"
                        .into(),
                );
            }
            let time = Time::Column(0, clock_of("", first.first(), ask)?);
            Ok(Plan { kind: "a table of times and rates", time, rate: Rate::Column(1, bits), says, ..plan })
        }
        ([Some(_), Some(_), Some(train), ..], _) if *train == 0.0 => Err(Refusal::new(
            "this looks like CellReplay's light trace of packet trains, which cannot be read alone",
            "use its heavy traces, which are Mahimahi's",
        )),
        _ => Err(Refusal::new(
            format!(
                "the first of the {} columns have no names, and this is none of the known tables",
                first.len()
            ),
            "name them by number: --time 1 --rate 2 --unit Mbit/s",
        )),
    }
}
