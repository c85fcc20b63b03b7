//! Names of differentiated services code points (DSCP), for the key `dscp` of a flow. A name with its value is one entry
//! of the table.

use lasthop_base::Value;

/// Default value: best effort.
pub(crate) const DEFAULT: &str = "be";

/// Largest code point.
pub(crate) const LARGEST: u64 = 63;

/// Names in the order of [`VALUES`].
pub(crate) const WORDS: &[&str] = &[
    "be", "le", "ef", "va", "af11", "af12", "af13", "af21", "af22", "af23", "af31", "af32", "af33", "af41",
    "af42", "af43", "cs0", "cs1", "cs2", "cs3", "cs4", "cs5", "cs6", "cs7",
];

/// Code points: le: RFC 8622; ef: RFC 3246; va: RFC 5865; af: RFC 2597 §6; cs: RFC 2474 §4.2.2.
const VALUES: [u8; WORDS.len()] =
    [0, 1, 46, 44, 10, 12, 14, 18, 20, 22, 26, 28, 30, 34, 36, 38, 0, 8, 16, 24, 32, 40, 48, 56];

/// Returns the DSCP, 0 to 63, of a value of the key `dscp`: a name or a number.
pub(crate) fn of_value(value: &Value) -> Option<u8> {
    match value {
        Value::Word(word) => WORDS.iter().position(|known| known == word).map(|index| VALUES[index]),
        Value::Count(number) => u8::try_from(*number).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2597: the code point of AFxy is 8x + 2y. RFC 2474: the code point of CSx is 8x.
    #[test]
    fn names_have_the_code_points_of_their_classes() {
        for word in WORDS {
            let digit = |at: usize| word.as_bytes().get(at).map_or(0, |byte| byte.saturating_sub(b'0'));
            let expected = match &word[..2] {
                "af" => 8 * digit(2) + 2 * digit(3),
                "cs" => 8 * digit(2),
                "be" => 0,
                "le" => 0b00_0001,
                "ef" => 0b10_1110,
                "va" => 0b10_1100,
                _ => panic!("{word}"),
            };
            assert_eq!(of_value(&Value::Word(word)), Some(expected), "{word}");
        }
        assert_eq!(of_value(&Value::Count(63)), Some(63));
    }
}
