//! Digests: hashes that identify a scenario. The store finds the runs of a scenario by its digest.

use lasthop_lab::digest::key;
use lasthop_scenario::Scenario;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

/// Name of the engine: the program's version and a hash of the simulator's sources. Runs of one engine are never reused
/// for a different engine.
pub static ENGINE: LazyLock<String> =
    LazyLock::new(|| format!("{}+{}", env!("CARGO_PKG_VERSION"), &key(&lasthop_sim::ENGINE_SOURCES)[..16]));

/// Computes digests. One buffer is reused for all digests.
#[derive(Debug, Default)]
pub struct Digests(Written);

impl Digests {
    /// Returns the digest of a scenario's runs. The digest covers this engine and the whole checked scenario, including
    /// recorded links. The digest does not cover title, source, seed, number of runs and sample interval. If the
    /// calling program added a mechanism, the digest covers the mechanism's name and parameters, but not its code.
    ///
    /// The standard library's `Hash` serialises the values. A different compiler or byte order may therefore give
    /// different digests; the runs are then repeated. Two different scenarios never have the same hash input.
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

/// `Hasher` that stores its input instead of hashing it. Different values give different bytes.
#[derive(Debug, Default)]
struct Written(Vec<u8>);

impl Hasher for Written {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Writes seven bits of the number in each byte (LEB128). The last byte is below 128.
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

    /// Stores the discriminant of an enum variant.
    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    /// Returns 0, because the caller reads the stored bytes instead.
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

    /// The expected bytes are the LEB128 examples in DWARF 5 §7.6.
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
