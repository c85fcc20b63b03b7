//! AccECN option (RFC 9768 §3.2.3): counters of received bytes, one for each ECN code point.

/// Order of the counters in an AccECN option. Each order has its own option kind (RFC 9768 §7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CounterOrder {
    /// Option AccECN0: the counters of ECT(0), CE and ECT(1), in this order.
    #[default]
    Ect0First,
    /// Option AccECN1: the counters of ECT(1), CE and ECT(0), in this order.
    Ect1First,
}

impl CounterOrder {
    /// Returns the option kind for this order.
    pub const fn kind(self) -> u8 {
        match self {
            CounterOrder::Ect0First => 172,
            CounterOrder::Ect1First => 174,
        }
    }
}

/// Content of an AccECN option: up to three byte counters of 24 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccEcnCounters {
    order: CounterOrder,
    len: u8,
    values: [u32; 3],
}

/// Modulus of the counters, which have 24 bits.
const WRAPS: u32 = 1 << 24;
/// Length of a counter in the option, bytes.
const FIELD: usize = 3;

impl AccEcnCounters {
    /// Returns the content of an option with the first `fields` byte counters (at most 3) of `order`. `ect0`, `ce` and
    /// `ect1` are stored modulo 2^24.
    pub fn new(order: CounterOrder, fields: u8, ect0: u64, ce: u64, ect1: u64) -> AccEcnCounters {
        let low = |bytes: u64| (bytes % u64::from(WRAPS)) as u32;
        let values = match order {
            CounterOrder::Ect0First => [low(ect0), low(ce), low(ect1)],
            CounterOrder::Ect1First => [low(ect1), low(ce), low(ect0)],
        };
        let len = fields.min(3);
        let mut counters = AccEcnCounters { order, len, values };
        counters.values[usize::from(len)..].fill(0);
        counters
    }

    /// Parses the value of an option: up to three whole counters. Further bytes are ignored (RFC 9768 §3.2.3).
    pub fn read(order: CounterOrder, value: &[u8]) -> AccEcnCounters {
        let mut counters = AccEcnCounters { order, ..AccEcnCounters::default() };
        for (place, bytes) in counters.values.iter_mut().zip(value.chunks_exact(FIELD)) {
            *place = bytes.iter().fold(0, |all, byte| all << 8 | u32::from(*byte));
            counters.len += 1;
        }
        counters
    }

    /// Returns the order of the counters.
    pub fn order(&self) -> CounterOrder {
        self.order
    }

    /// Returns the counters that the option contains, in the order of the option.
    pub fn as_slice(&self) -> &[u32] {
        &self.values[..usize::from(self.len)]
    }

    /// Returns the counter of bytes received with ECT(0), modulo 2^24. `None` if the option lacks this counter.
    pub fn ect0(&self) -> Option<u32> {
        self.field(if self.order == CounterOrder::Ect0First { 0 } else { 2 })
    }

    /// Returns the counter of bytes received with CE, modulo 2^24. `None` if the option lacks this counter.
    pub fn ce(&self) -> Option<u32> {
        self.field(1)
    }

    /// Returns the counter of bytes received with ECT(1), modulo 2^24. `None` if the option lacks this counter.
    pub fn ect1(&self) -> Option<u32> {
        self.field(if self.order == CounterOrder::Ect1First { 0 } else { 2 })
    }

    /// Returns the length of the option without padding, in bytes: 2, 5, 8 or 11.
    pub fn bytes(&self) -> usize {
        2 + FIELD * usize::from(self.len)
    }

    /// Returns the length of the option in bytes, padded to a multiple of four.
    pub fn padded_bytes(&self) -> u32 {
        self.bytes().next_multiple_of(4) as u32
    }

    /// Writes the option to the beginning of `out`. Returns the length of the option in bytes.
    pub fn write(&self, out: &mut [u8; 12]) -> usize {
        (out[0], out[1]) = (self.order.kind(), self.bytes() as u8);
        for (place, value) in out[2..].chunks_exact_mut(FIELD).zip(self.as_slice()) {
            place.copy_from_slice(&value.to_be_bytes()[1..]);
        }
        self.bytes()
    }

    fn field(&self, index: usize) -> Option<u32> {
        self.as_slice().get(index).copied()
    }

    /// Returns a tag and the counters. The tag is never 0. The tag encodes the order and the number of the counters in
    /// one byte.
    pub(crate) fn tagged(&self) -> (u8, [u32; 3]) {
        (1 + self.len + 4 * u8::from(self.order == CounterOrder::Ect1First), self.values)
    }

    pub(crate) fn of_tag(tag: u8, values: [u32; 3]) -> Option<AccEcnCounters> {
        let packed = tag.checked_sub(1)?;
        let order = if packed & 4 == 0 { CounterOrder::Ect0First } else { CounterOrder::Ect1First };
        Some(AccEcnCounters { order, len: packed & 3, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9768 §3.2.3, Fig. 4 and Table 5: kinds 172 and 174, lengths 11, 8, 5, 2, 24-bit counters, network order.
    #[test]
    fn orders_and_lengths() {
        let (ect0, ce, ect1) = (0x0102_0304, 0x05, 0x0a0b_0c0d);
        let cases: &[(CounterOrder, u8, &[u8])] = &[
            (CounterOrder::Ect0First, 3, &[172, 11, 2, 3, 4, 0, 0, 5, 11, 12, 13]),
            (CounterOrder::Ect1First, 3, &[174, 11, 11, 12, 13, 0, 0, 5, 2, 3, 4]),
            (CounterOrder::Ect1First, 2, &[174, 8, 11, 12, 13, 0, 0, 5]),
            (CounterOrder::Ect0First, 1, &[172, 5, 2, 3, 4]),
            (CounterOrder::Ect0First, 0, &[172, 2]),
        ];
        for (order, fields, bytes) in cases {
            let counters = AccEcnCounters::new(*order, *fields, ect0, ce, ect1);
            let mut out = [0; 12];
            let length = counters.write(&mut out);
            assert_eq!(&out[..length], *bytes);
            assert_eq!(AccEcnCounters::read(*order, &bytes[2..]), counters);
            let (tag, values) = counters.tagged();
            assert_eq!(AccEcnCounters::of_tag(tag, values), Some(counters));
        }
    }

    /// RFC 9768 §3.2.3: if the option has any other length, "implementations MUST use those whole 3-octet fields that
    /// fit".
    #[test]
    fn other_lengths_are_padding() {
        let longer = AccEcnCounters::read(CounterOrder::Ect0First, &[0, 0, 1, 0, 0, 2, 0, 0, 3, 9, 9, 9]);
        assert_eq!((longer.ect0(), longer.ce(), longer.ect1()), (Some(1), Some(2), Some(3)));
        let between = AccEcnCounters::read(CounterOrder::Ect1First, &[0, 0, 1, 0]);
        assert_eq!((between.ect1(), between.ce(), between.ect0()), (Some(1), None, None));
    }
}
