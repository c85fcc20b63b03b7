//! Number of executed instructions per data packet, compared with a stored table of earlier counts.

use super::BenchCase;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Largest accepted growth of a case's cost, %.
pub const LIMIT_PCT: f64 = 2.0;

/// Largest accepted growth of a case's cost if the table was counted with a different compiler version, %. The
/// comparison cannot separate growth caused by the compiler from growth caused by the program. No compiler version in
/// use has changed the cost of a case by 10 %.
pub const LIMIT_OTHER_COMPILER_PCT: f64 = 10.0;

/// Cost of a case. The cost is the difference between a longer run and a shorter run, which removes the cost of the
/// set-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseCost {
    /// Name of the case.
    pub case: String,
    /// Virtual time of the shorter run, s.
    pub from_s: u32,
    /// Virtual time of the longer run, s.
    pub to_s: u32,
    /// Number of data packets of the longer run minus number of data packets of the shorter run, retransmissions
    /// included.
    pub data_packets: u64,
    /// Additional instructions of the longer run per additional data packet. The processing of the packet's ACK is
    /// included.
    pub instructions_per_packet: f64,
    /// Version and target of the Rust compiler.
    pub compiler: String,
}

/// Column names of the table, in order.
pub const COLUMNS: [&str; 6] =
    ["case", "from_s", "to_s", "data_packets", "instructions_per_packet", "compiler"];

/// Parses a stored table. Fails if a line is not valid CSV.
pub fn read(text: &str) -> Result<Vec<CaseCost>, csv::Error> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}

/// Cost of a case in the stored table and in the current build.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// Name of the case.
    pub case: String,
    /// Instructions per data packet in the stored table.
    pub before: f64,
    /// Instructions per data packet in the current build.
    pub now: f64,
    /// Compiler of the stored table, if that compiler differs from the current compiler. `None` if the compilers are
    /// the same.
    pub other_compiler: Option<String>,
}

impl Growth {
    /// Compares a new count with the table's row for the same case. Fails if the table has no comparable row.
    pub fn of(table: &[CaseCost], now: &CaseCost) -> Result<Growth, Incomparable> {
        let row = table.iter().find(|row| row.case == now.case).ok_or(Incomparable::Absent)?;
        if (row.from_s, row.to_s) != (now.from_s, now.to_s) {
            return Err(Incomparable::Durations);
        }
        if target(&row.compiler) != target(&now.compiler) {
            return Err(Incomparable::Target(target(&row.compiler).to_owned()));
        }
        Ok(Growth {
            case: now.case.clone(),
            before: row.instructions_per_packet,
            now: now.instructions_per_packet,
            other_compiler: (row.compiler != now.compiler).then(|| row.compiler.clone()),
        })
    }

    /// Returns the growth of the cost, %. The growth is negative if the cost has fallen.
    pub fn pct(&self) -> f64 {
        100.0 * (self.now - self.before) / self.before
    }

    /// Whether the growth exceeds the limit. A growth of NaN counts as too much.
    pub fn is_too_much(&self) -> bool {
        let limit = if self.other_compiler.is_some() { LIMIT_OTHER_COMPILER_PCT } else { LIMIT_PCT };
        self.pct().is_nan() || self.pct() > limit
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:.0} → {:.0} ({:+.1} %)", self.case, self.before, self.now, self.pct())
    }
}

/// Reason why a case cannot be compared with the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// The table lacks the case.
    Absent,
    /// The runs of the table's row have different durations.
    Durations,
    /// The table's row was counted on a different target. The field is the target of the row.
    Target(String),
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomparable::Absent => f.write_str("the table has no row for this case"),
            Incomparable::Durations => f.write_str("the table's row was counted with other run durations"),
            Incomparable::Target(target) => {
                write!(f, "the table's row was counted on {target}, not on this machine's target")
            }
        }
    }
}

/// Extracts the target `x86_64-unknown-linux-gnu` from `rustc 1.95.0 (…) x86_64-unknown-linux-gnu`.
fn target(compiler: &str) -> &str {
    compiler.rsplit(' ').next().unwrap_or_default()
}

impl BenchCase {
    /// Computes the cost of a case from a shorter and a longer run. Each run is a pair: number of data packets, number
    /// of instructions. Returns `None` if the longer run did not send more packets, or executed fewer instructions.
    pub fn counted(&self, short: (u64, u64), long: (u64, u64), compiler: &str) -> Option<CaseCost> {
        let data_packets = long.0.checked_sub(short.0).filter(|packets| *packets > 0)?;
        let instructions = long.1.checked_sub(short.1)? as f64;
        let [from_s, to_s] = self.counted_s;
        Some(CaseCost {
            case: self.name.into(),
            from_s,
            to_s,
            data_packets,
            instructions_per_packet: (10.0 * instructions / data_packets as f64).round() / 10.0,
            compiler: compiler.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::CASES;
    use super::*;

    const HERE: &str = "rustc 1.95.0 (0 2026-04-14) x86_64-unknown-linux-gnu";
    const NEWER: &str = "rustc 1.96.0 (1 2026-05-26) x86_64-unknown-linux-gnu";
    const ELSEWHERE: &str = "rustc 1.95.0 (0 2026-04-14) aarch64-unknown-linux-gnu";

    fn counted(instructions: u64, compiler: &str) -> CaseCost {
        CASES[0].counted((1_000, 9_000_000), (2_000, 9_000_000 + 1_000 * instructions), compiler).unwrap()
    }

    #[test]
    fn set_up_drops_out() {
        let one = counted(3_200, HERE);
        assert_eq!((one.data_packets, one.instructions_per_packet), (1_000, 3_200.0));
        assert_eq!(CASES[0].counted((5, 1), (5, 2), HERE), None);
        assert_eq!(CASES[0].counted((5, 9), (6, 2), HERE), None);
    }

    #[test]
    fn two_per_cent_is_the_limit() {
        let table = [counted(1_000, HERE)];
        let is_too_much = |now| Growth::of(&table, &counted(now, HERE)).unwrap().is_too_much();
        assert!(!is_too_much(500) && !is_too_much(1_000) && !is_too_much(1_019));
        assert!(is_too_much(1_021));
    }

    #[test]
    fn another_compiler_may_do_more_but_not_everything() {
        let table = [counted(1_000, HERE)];
        let growth = |now| Growth::of(&table, &counted(now, NEWER)).unwrap();
        assert_eq!(growth(1_050).other_compiler.as_deref(), Some(HERE));
        assert!(!growth(1_050).is_too_much());
        assert!(growth(1_101).is_too_much());
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        let table = [counted(1_000, HERE)];
        assert_eq!(Growth::of(&[], &counted(1_000, HERE)), Err(Incomparable::Absent));
        let other = CaseCost { to_s: 7, ..counted(1_000, HERE) };
        assert_eq!(Growth::of(&table, &other), Err(Incomparable::Durations));
        let target = "x86_64-unknown-linux-gnu".to_owned();
        assert_eq!(Growth::of(&table, &counted(1_000, ELSEWHERE)), Err(Incomparable::Target(target)));
    }

    #[test]
    fn the_table_that_is_kept_has_every_case_as_it_is_counted() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/instructions.csv");
        let text = std::fs::read_to_string(path).expect("docs/instructions.csv");
        assert_eq!(text.lines().next(), Some(COLUMNS.join(",").as_str()));
        let table = read(&text).unwrap();
        assert_eq!(table.len(), CASES.len());
        for (case, row) in CASES.iter().zip(&table) {
            assert_eq!((row.case.as_str(), [row.from_s, row.to_s]), (case.name, case.counted_s));
            assert!(row.data_packets > 1_000 && row.instructions_per_packet > 1_000.0, "{row:?}");
        }
    }
}
