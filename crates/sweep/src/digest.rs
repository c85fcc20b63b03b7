//! What tells one scenario's runs from another's.

use lasthop_lab::digest::key;
use lasthop_scenario::Scenario;
use std::hash::{Hash, Hasher};

/// The engine: its version, and a hash of its sources. Another one may give other numbers, so its runs are others.
pub const ENGINE: &str = env!("LASTHOP_ENGINE");

/// Makes digests; the room in which a scenario is written out serves again for the next.
#[derive(Debug, Default)]
pub struct Digests(Written);

impl Digests {
    /// The key of a scenario's runs: this engine, and all of the checked scenario (recorded links with it) but its title and
    /// source, its seed, its number of runs and its samples. A mechanism from outside is known by its name and its values.
    ///
    /// Values are written as the standard library's `Hash` tells them: a compiler that tells them otherwise, or a processor
    /// of another byte order, gives other keys, so that runs are made anew; never those of another scenario.
    pub fn of(&mut self, scenario: &Scenario) -> String {
        let Scenario {
            title: _,
            source: _,
            duration,
            warmup,
            seed: _,
            runs: _,
            headers,
            sample: _,
            nodes,
            middleboxes,
            links,
            flows,
            routes,
        } = scenario;
        let Digests(written) = self;
        written.0.clear();
        (duration, warmup, headers, nodes, middleboxes, links, flows, routes).hash(written);
        key(&[ENGINE.as_bytes(), &written.0])
    }
}

/// What a value tells a hasher, whole, so that two values that differ are written differently. Numbers take as few bytes as
/// they need: most are small.
#[derive(Debug, Default)]
struct Written(Vec<u8>);

impl Hasher for Written {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Seven bits a byte, the last one below 128.
    fn write_u64(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    /// What tells the cases of an enum apart.
    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    /// Nobody asks: what is written is the answer.
    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: impl Hash) -> Vec<u8> {
        let mut written = Written::default();
        value.hash(&mut written);
        written.0
    }

    /// LEB128, with the examples of DWARF 5 §7.6.
    #[test]
    fn numbers_take_few_bytes() {
        for (number, bytes) in
            [(2u64, &[2][..]), (127, &[127]), (128, &[0x80, 1]), (12857, &[57 | 0x80, 100])]
        {
            assert_eq!(written(number), bytes, "{number}");
            assert_eq!(written(number as u32), bytes, "{number}");
            assert_eq!(written(number as usize), bytes, "{number}");
        }
        assert_eq!(written(u64::MAX), [vec![0xff; 9], vec![1]].concat());
    }

    #[test]
    fn what_differs_is_written_differently() {
        assert_ne!(written(("ab", "c")), written(("a", "bc")));
        assert_ne!(written([vec![1u64], vec![]]), written([vec![], vec![1u64]]));
        assert_ne!(written((Some(0u64), None::<u64>)), written((None::<u64>, Some(0u64))));
    }
}
