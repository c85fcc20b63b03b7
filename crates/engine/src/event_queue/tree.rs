//! Tournament trees of due times. The small tree holds up to 64 sources (six rounds), the large tree up to 4096 sources
//! (twelve rounds). The wide tree holds any number of sources, with keys of 128 bits. The two busiest sources of a
//! small tree stay outside the tree, and are compared only with the tree's winner.
//!
//! A key is a time (ns) followed by the source number. Among equal times, the lower source number therefore wins.

use lasthop_base::Time;

/// A complete binary tree for `SLOTS / 2` sources.
#[derive(Debug)]
pub(super) struct Tree<const SLOTS: usize> {
    /// Index 1 holds the winner of all sources. Index i holds the winner of the pair at 2 i and 2 i + 1. The upper half
    /// of the array holds the sources.
    keys: [u64; SLOTS],
}

/// Tree for up to 4096 sources. With 4096 sources, a key has room for times up to 26 days. With more sources, a key
/// would have room only for shorter times.
pub(super) type LargeTree = Tree<{ 2 << 12 }>;

impl<const SLOTS: usize> Tree<SLOTS> {
    pub(super) const CAPACITY: usize = SLOTS / 2;
    const ROUNDS: u32 = Self::CAPACITY.ilog2();
    /// First time in ns that does not fit in a key. The highest bit of a key is reserved for [`Time::NEVER`].
    const END: u64 = 1 << (63 - Self::ROUNDS);

    pub(super) fn new() -> Tree<SLOTS> {
        Tree { keys: [u64::MAX; SLOTS] }
    }

    pub(super) fn fits(time: Time) -> bool {
        time.as_nanos() < Self::END || time == Time::NEVER
    }

    fn encode(source: u32, time: Time) -> u64 {
        time.as_nanos() << Self::ROUNDS | u64::from(source)
    }

    fn decode(key: u64) -> (Time, u32) {
        // `NEVER` is a key with all bits set, and the arithmetic shift keeps its upper bits set.
        let time = Time::from_nanos((key.cast_signed() >> Self::ROUNDS).cast_unsigned());
        (time, key as u32 % Self::CAPACITY as u32)
    }

    fn place_of(source: u32) -> usize {
        Self::CAPACITY + source as usize % Self::CAPACITY
    }

    pub(super) fn time_of(&self, source: u32) -> Time {
        Self::decode(self.keys[Self::place_of(source)]).0
    }

    /// Sets a source's due time; returns the winner.
    pub(super) fn set(&mut self, source: u32, time: Time) -> (Time, u32) {
        self.compete(source, Self::encode(source, time));
        Self::decode(self.keys[1])
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline)]
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn compete(&mut self, source: u32, mut key: u64) {
        let mut place = Self::place_of(source);
        self.keys[place] = key;
        for _ in 0..Self::ROUNDS {
            key = key.min(self.keys[place ^ 1]);
            place /= 2;
            self.keys[place] = key;
        }
    }

    /// Sets a source's due time to `time`, unless the source is already due at or before `time`.
    pub(super) fn bring_forward(&mut self, source: u32, time: Time) {
        let key = Self::encode(source, time);
        let mut place = Self::place_of(source);
        while place > 0 && key < self.keys[place] {
            self.keys[place] = key;
            place /= 2;
        }
    }
}

/// Tree for up to 64 sources, two of which may stay outside the tree.
#[derive(Debug)]
pub(super) struct SmallTree {
    tree: Tree64,
    busy: [u64; BUSY],
    /// For each source, its index in `busy`, or [`BUSY`] if the source is in the tree.
    places: [u8; Tree64::CAPACITY],
}

type Tree64 = Tree<{ 2 << 6 }>;
const BUSY: usize = 2;

impl SmallTree {
    pub(super) const CAPACITY: usize = Tree64::CAPACITY;

    /// Returns a tree in which no source is due. The first two sources of `busiest` stay outside the tree.
    pub(super) fn new(busiest: &[u32]) -> SmallTree {
        let mut places = [BUSY as u8; Tree64::CAPACITY];
        for (place, source) in busiest.iter().take(BUSY).enumerate() {
            places[*source as usize % Tree64::CAPACITY] = place as u8;
        }
        SmallTree { tree: Tree::new(), busy: [u64::MAX; BUSY], places }
    }

    pub(super) fn fits(time: Time) -> bool {
        Tree64::fits(time)
    }

    fn busy(&mut self, source: u32) -> Option<&mut u64> {
        self.busy.get_mut(usize::from(self.places[source as usize % Tree64::CAPACITY]))
    }

    pub(super) fn time_of(&self, source: u32) -> Time {
        match self.busy.get(usize::from(self.places[source as usize % Tree64::CAPACITY])) {
            Some(key) => Tree64::decode(*key).0,
            None => self.tree.time_of(source),
        }
    }

    pub(super) fn set(&mut self, source: u32, time: Time) -> (Time, u32) {
        let key = Tree64::encode(source, time);
        match self.busy(source) {
            Some(busy) => *busy = key,
            None => self.tree.compete(source, key),
        }
        let [one, other] = self.busy;
        Tree64::decode(self.tree.keys[1].min(one).min(other))
    }

    pub(super) fn bring_forward(&mut self, source: u32, time: Time) {
        match self.busy(source) {
            Some(busy) => *busy = (*busy).min(Tree64::encode(source, time)),
            None => self.tree.bring_forward(source, time),
        }
    }
}

/// Tree for any number of sources and any times, with keys of 128 bits.
#[derive(Debug)]
pub(super) struct WideTree {
    keys: Vec<u128>,
}

impl WideTree {
    const SOURCE_BITS: u32 = u32::BITS;

    pub(super) fn new(count: usize) -> WideTree {
        WideTree { keys: vec![u128::MAX; 2 * count.next_power_of_two()] }
    }

    fn place_of(&self, source: u32) -> usize {
        self.keys.len() / 2 + source as usize
    }

    fn decode(key: u128) -> (Time, u32) {
        (Time::from_nanos((key >> Self::SOURCE_BITS) as u64), key as u32)
    }

    pub(super) fn time_of(&self, source: u32) -> Time {
        Self::decode(self.keys[self.place_of(source)]).0
    }

    /// Sets a source's due time; returns the winner. Stops at the first round whose winner does not change.
    pub(super) fn set(&mut self, source: u32, time: Time) -> (Time, u32) {
        let mut key = u128::from(time.as_nanos()) << Self::SOURCE_BITS | u128::from(source);
        let mut place = self.place_of(source);
        while place > 0 && self.keys[place] != key {
            self.keys[place] = key;
            key = key.min(self.keys[place ^ 1]);
            place /= 2;
        }
        Self::decode(self.keys[1])
    }
}
