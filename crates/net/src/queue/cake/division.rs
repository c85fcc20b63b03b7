//! Division of traffic into tins: the tin of each DSCP, and the threshold of each tin (sch_cake.c of Linux 5.9 and later;
//! tc-cake(8)).

/// Names of the ways to divide traffic into tins. The first name is the default.
pub(super) const WORDS: &[&str] = &["besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8"];

/// A way to divide traffic into tins.
pub(super) struct Division {
    /// Returns the index of the tin for a DSCP.
    pub(super) tin_of: fn(u8) -> usize,
    /// Thresholds of the tins. Below its threshold, a tin with a higher index has a higher priority.
    thresholds: Thresholds,
    /// Bytes per turn of a tin with threshold 1, without a shaper.
    pub(super) quantum: u64,
}

enum Thresholds {
    /// For each tin, divisor of the rate.
    Shares(&'static [u64]),
    /// Eight tins, each with 7/8 of the threshold of the previous tin.
    Eighths,
}

impl Division {
    /// Returns the division with this name; `None` for a single tin.
    pub(super) fn named(word: &str) -> Option<Division> {
        let division = |tin_of, thresholds, quantum| Some(Division { tin_of, thresholds, quantum });
        match word {
            "precedence" => division(precedence, Thresholds::Eighths, 256),
            "diffserv3" => division(diffserv3, Thresholds::Shares(&[1, 16, 4]), 1024),
            "diffserv4" => division(diffserv4, Thresholds::Shares(&[1, 16, 2, 4]), 1024),
            "diffserv8" => division(diffserv8, Thresholds::Eighths, 256),
            _ => None,
        }
    }

    /// Returns for each tin its share of `whole`, rounded down, but at least 1.
    pub(super) fn shares(&self, whole: u64) -> Vec<u64> {
        match self.thresholds {
            Thresholds::Shares(divisors) => divisors.iter().map(|divisor| (whole / divisor).max(1)).collect(),
            Thresholds::Eighths => {
                let next = |share: &u64| Some((share - share.div_ceil(8)).max(1));
                std::iter::successors(Some(whole), next).take(8).collect()
            }
        }
    }
}

/// Index of the class: the three highest bits of the DSCP (RFC 791 §3.1).
fn precedence(dscp: u8) -> usize {
    usize::from(dscp >> 3)
}

/// Tin 1, Bulk: LE and CS1. Tin 2, Voice: CS7, CS6, EF, VA and code point 4 (low delay, RFC 1349). Tin 0, Best Effort:
/// all others.
fn diffserv3(dscp: u8) -> usize {
    match dscp {
        1 | 8 => 1,
        4 | 44 | 46 | 48 | 56 => 2,
        _ => 0,
    }
}

/// Tin 1, Bulk: LE and CS1. Tin 2, Video: CS2, CS3, AF2x, AF3x, AF4x and code point 4. Tin 3, Voice: CS4 to CS7, EF and
/// VA. Tin 0, Best Effort: all others.
fn diffserv4(dscp: u8) -> usize {
    match dscp {
        1 | 8 => 1,
        4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
        32 | 40 | 44 | 46 | 48 | 56 => 3,
        _ => 0,
    }
}

/// From tin 0 to tin 7: LE; CS1, AF1x and code point 2 (high throughput, RFC 1349); all code points not in another tin;
/// CS3, AF3x and AF4x; AF2x and code point 4; CS2; CS4, CS5, EF and VA; CS6 and CS7.
fn diffserv8(dscp: u8) -> usize {
    match dscp {
        1 => 0,
        2 | 8 | 10 | 12 | 14 => 1,
        24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
        4 | 18 | 20 | 22 => 4,
        16 => 5,
        32 | 40 | 44 | 46 => 6,
        48 | 56 => 7,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CS: [u8; 8] = [0, 8, 16, 24, 32, 40, 48, 56];
    const AF: [[u8; 3]; 4] = [[10, 12, 14], [18, 20, 22], [26, 28, 30], [34, 36, 38]];
    const LE: u8 = 1;
    const VA: u8 = 44;
    const EF: u8 = 46;

    fn tins(word: &str, dscps: &[u8]) -> Vec<usize> {
        let division = Division::named(word).expect("a division");
        dscps.iter().map(|dscp| (division.tin_of)(*dscp)).collect()
    }

    /// The classes of tc-cake(8), "Priority queue parameters": Bulk (CS1, LE), Video (AF4x, AF3x, CS3, AF2x, CS2) and
    /// Voice (CS7, CS6, EF, VA, in diffserv4 also CS5 and CS4).
    #[test]
    fn code_points_have_the_tins_of_the_manual() {
        assert_eq!(tins("diffserv3", &CS), [0, 1, 0, 0, 0, 0, 2, 2]);
        assert_eq!(tins("diffserv3", &[LE, VA, EF]), [1, 2, 2]);
        assert_eq!(tins("diffserv4", &CS), [0, 1, 2, 2, 3, 3, 3, 3]);
        assert_eq!(tins("diffserv4", &[LE, VA, EF]), [1, 3, 3]);
        for (class, tin) in AF.iter().zip([0, 2, 2, 2]) {
            assert_eq!(tins("diffserv3", class), [0; 3]);
            assert_eq!(tins("diffserv4", class), [tin; 3]);
        }
        assert_eq!(tins("precedence", &CS), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    /// Comment in sch_cake.c, from the highest priority: network control (CS6, CS7); minimum latency (EF, VA, CS5, CS4);
    /// interactive shell (CS2); low latency transactions (AF2x); video streaming (AF4x, AF3x, CS3); standard (CS0); high
    /// throughput and background (AF1x, CS1); and LE below all.
    #[test]
    fn diffserv8_has_the_classes_of_its_comment() {
        assert_eq!(tins("diffserv8", &CS), [2, 1, 5, 3, 6, 6, 7, 7]);
        assert_eq!(tins("diffserv8", &[LE, VA, EF]), [0, 6, 6]);
        for (class, tin) in AF.iter().zip([1, 4, 3, 3]) {
            assert_eq!(tins("diffserv8", class), [tin; 3]);
        }
    }

    /// Thresholds of tc-cake(8): Bulk 6.25 %, Best Effort 100 %, Video 50 %, Voice 25 %. In the divisions with eight
    /// tins, each threshold is 7/8 of the previous threshold.
    #[test]
    fn thresholds_are_those_of_the_manual() {
        let shares = |word, whole| Division::named(word).expect("a division").shares(whole);
        assert_eq!(shares("diffserv3", 1000), [1000, 62, 250]);
        assert_eq!(shares("diffserv4", 1000), [1000, 62, 500, 250]);
        let powers: Vec<u64> = (0..8).map(|tin| 7u64.pow(tin) * 8u64.pow(7 - tin)).collect();
        assert_eq!(shares("diffserv8", 8u64.pow(7)), powers);
        assert_eq!(shares("precedence", 8u64.pow(7)), powers);
        assert_eq!(shares("diffserv4", 1), [1; 4]);
        assert!(Division::named("besteffort").is_none());
    }
}
